"""How far fresh models agree with tests, as the cells of a table, for a terminal and for the page."""

from __future__ import annotations

from datamodels_inf.replication import Replication

COLUMNS = (
    "compared", "same sign", "(95 % interval)", "95 % interval covers", "finding’s covers", "slope", "false",
    "at most", "confirmed", "reversed",
)  # fmt: skip
UNKNOWN = "—"
MEANING = (
    "Same sign: tests whose effect has the same sign by the fresh models. Covers: intervals that hold the fresh effect, "
    "when its own error is added; a calibrated 95 % interval does in 95 % of tests that nothing selected. Slope: the "
    "fresh effect for each unit of the effect; below 1, selection made effects too large. False: twice the share of "
    "findings whose signs disagree, since one without an effect agrees by chance in every second case; it is not too "
    "low in expectation, and at most: 95 % from above. Confirmed, reversed: findings whose direction, or the opposite, "
    "the fresh models find by themselves (one-sided, Benjamini–Hochberg, 0.05)."
)


def cells(found: Replication) -> list[str]:
    """One for each of COLUMNS.

    >>> cells(Replication(9, 1.0, 0.7, 1.0, 0.89, 0.954, 8, 0, 1.0, 0.0, 4 / 9))[:8]
    ['9', '100.0 %', '(70.0 to 100.0)', '89.0 %', '100.0 %', '0.95', '0.0 %', '44.4 %']
    """
    return [
        f"{found.n:,}",
        share(found.same_sign),
        f"({100.0 * found.same_sign_low:.1f} to {100.0 * found.same_sign_high:.1f})",
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
