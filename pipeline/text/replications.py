"""How far fresh models agree with tests, as a table of texts, for a terminal and for the page."""

from __future__ import annotations

from collections.abc import Mapping

from datamodels_inf.replication import Replication

COLUMNS = (
    "compared", "same sign", "95 % interval", "95 % covers", "as a finding", "slope", "false", "at most", "confirmed",
    "reversed",
)  # fmt: skip
UNKNOWN = "—"
MEANING = (
    "Same sign: tests whose effect has the same sign by the fresh models. Covers: 95 % intervals, and the longer ones "
    "of findings, that hold the fresh effect when its own error is added; calibrated 95 % intervals do in 95 % of "
    "tests that nothing has selected. Slope: the fresh effect for each unit of the effect; below 1, noise and the "
    "selection made effects too large. False: twice the share of findings whose signs disagree, since without an "
    "effect every second sign agrees by chance; in expectation it is not too low (with fewer fresh models than tested "
    "ones far too high, since true findings disagree too), and “at most” bounds it at 95 %, "
    "a little less where tests share most of their noise. "
    "Confirmed, reversed: tests whose direction, or the opposite, the fresh models find by themselves (one-sided, "
    "Benjamini–Hochberg, 0.05)."
)


def table(found: Mapping[str, Replication]) -> tuple[list[str], dict[str, list[str]]]:
    """(columns, texts by name), without the columns that are not defined for any.

    >>> table({"contrast": Replication(9, 1.0, 0.7, 1.0, 0.89, 0.954, 8, 0)})[0]
    ['compared', 'same sign', '95 % interval', '95 % covers', 'slope', 'confirmed', 'reversed']
    """
    rows = {name: cells(one) for name, one in found.items()}
    kept = [k for k in range(len(COLUMNS)) if any(row[k] != UNKNOWN for row in rows.values())]
    return [COLUMNS[k] for k in kept], {name: [row[k] for k in kept] for name, row in rows.items()}


def cells(found: Replication) -> list[str]:
    """One for each of COLUMNS.

    >>> cells(Replication(9, 1.0, 0.7, 1.0, 0.89, 0.954, 8, 0, 1.0, 0.0, 4 / 9))[:8]
    ['9', '100.0 %', '70.0 to 100.0', '89.0 %', '100.0 %', '0.95', '0.0 %', '44.4 %']
    """
    return [
        f"{found.n:,}",
        share(found.same_sign),
        f"{100.0 * found.same_sign_low:.1f} to {100.0 * found.same_sign_high:.1f}",
        share(found.coverage),
        share(found.coverage_selected),
        UNKNOWN if found.slope is None else f"{found.slope:.2f}",
        share(found.false_share),
        share(found.false_bound),
        f"{found.confirmed:,}",
        f"{found.reversed:,}",
    ]


def share(value: float | None) -> str:
    """In per cent, to a tenth; a dash where it is not defined."""
    return UNKNOWN if value is None else f"{100.0 * value:.1f} %"
