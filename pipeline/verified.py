"""What `verify` says of a pair: the estimate beside couples of fresh models. The rows of verify.parquet.

A claim is what the test stage said of a pair on a target, or says of one that the user names; it becomes `Verified` by
the margins of fresh models that saw i and not j, and the reverse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from datamodels_inf.counterfactual import Retrained, Verdict
from pipeline.text.csv_text import Cell

FILE = "verify.parquet"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Δ̂ of a pair, or of two groups, on a target. finding: its number, None for a pair that the user names.

    method: whose finding it is; empty for a pair. effect_…: as in the table of tests, NaN where not known; the selected
    interval is that of a finding, which makes up for the selection.
    """

    finding: int | None
    method: str
    members_i: tuple[int, ...]
    members_j: tuple[int, ...]
    target: int
    class_i: str
    class_j: str
    class_target: str
    effect: float
    effect_se: float
    effect_low: float
    effect_high: float
    effect_low_selected: float = math.nan
    effect_high_selected: float = math.nan

    @property
    def i(self) -> int:
        """The image, or the first of its group."""
        return self.members_i[0]

    @property
    def j(self) -> int:
        """The image, or the first of its group."""
        return self.members_j[0]


@dataclass(frozen=True, kw_only=True)
class Verified(Claim):
    """A claim beside Δ of fresh models: its estimate, standard error and 95 % interval, from n_couples couples.

    z: the distance of the two estimates in standard errors of both; compatible: it is at most 1.96 in size.
    inside_marginal, inside_selected: whether fresh_effect lies in the claim's intervals; None where there is none.
    """

    fresh_effect: float
    fresh_se: float
    fresh_low: float
    fresh_high: float
    n_couples: int
    z: float
    compatible: bool | None
    verdict: Verdict
    inside_marginal: bool | None
    inside_selected: bool | None

    @classmethod
    def of(cls, claim: Claim, fresh: Retrained) -> Verified:
        """`claim` held against `fresh` couples."""
        z = fresh.distance(claim.effect, claim.effect_se)
        return cls(
            **vars(claim),
            fresh_effect=fresh.effect,
            fresh_se=fresh.standard_error,
            fresh_low=fresh.low,
            fresh_high=fresh.high,
            n_couples=fresh.n_couples,
            z=z,
            compatible=None if math.isnan(z) else fresh.compatible(claim.effect, claim.effect_se),
            verdict=fresh.verdict(claim.effect),
            inside_marginal=_inside(fresh.effect, claim.effect_low, claim.effect_high),
            inside_selected=_inside(fresh.effect, claim.effect_low_selected, claim.effect_high_selected),
        )

    @property
    def title(self) -> str:
        """ "Finding 3"."""
        return f"Finding {self.finding}" if self.finding else "The pair that was asked for"

    @property
    def same_sign(self) -> bool | None:
        """Whether both estimates have one sign; None where one of them has none."""
        product = self.effect * self.fresh_effect
        return None if math.isnan(product) or product == 0.0 else product > 0.0


FIELDS = tuple(field.name for field in fields(Verified))
COLUMNS: tuple[str, ...] = ("finding", "method", "i", "j", *FIELDS[2:])


def csv_values(row: Verified) -> list[Cell]:
    """Its COLUMNS in a CSV file; numbers that are not known as nothing, such as those of a finding of a named pair."""
    values = [getattr(row, name) for name in COLUMNS]
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values]


def _inside(value: float, low: float, high: float) -> bool | None:
    return None if math.isnan(low) or math.isnan(high) else low <= value <= high


@dataclass(frozen=True)
class Tally:
    """Of some rows: how many have each verdict, and (yes, of so many) of what can be said of most of them."""

    verdicts: dict[str, int]
    same_sign: tuple[int, int]
    compatible: tuple[int, int]
    inside_marginal: tuple[int, int]
    inside_selected: tuple[int, int]

    @classmethod
    def of(cls, rows: Sequence[Verified]) -> Tally:
        """Count the verdicts of `rows`, and how many of them answer each question, and with yes."""
        names = ("confirmed", "open", "reversed")
        questions = ("same_sign", "compatible", "inside_marginal", "inside_selected")
        return cls(
            {name: sum(row.verdict == name for row in rows) for name in names},
            *(_yes(getattr(row, name) for row in rows) for name in questions),
        )

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        parts = [", ".join(f"{count:,} {name}" for name, count in self.verdicts.items())]
        parts += [f"{_of(self.same_sign)} agree in sign", f"{_of(self.inside_marginal)} inside the 95 % interval"]
        if self.inside_selected[1]:
            parts.append(f"{_of(self.inside_selected)} inside the findings’ interval")
        return "; ".join([*parts, f"{_of(self.compatible)} within 1.96 standard errors of both"]) + "."


def _yes(answers: Iterable[bool | None]) -> tuple[int, int]:
    known = [answer for answer in answers if answer is not None]
    return sum(known), len(known)


def _of(count: tuple[int, int]) -> str:
    return f"{count[0]:,} of {count[1]:,}"


def write_verified(folder: Path, rows: Sequence[Verified]) -> None:
    """One row each, in their order."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"int": pa.int64(), "str": pa.string(), "float": pa.float64(), "bool": pa.bool_(), "Verdict": pa.string()}
    types = {f.name: kinds.get(str(f.type).removesuffix(" | None"), pa.list_(pa.int64())) for f in fields(Verified)}
    types |= {"i": pa.int64(), "j": pa.int64()}
    values = [{name: getattr(row, name) for name in COLUMNS} for row in rows]
    parquet.write_table(
        pa.Table.from_pylist(values, pa.schema([(name, types[name]) for name in COLUMNS])), folder / FILE
    )


def read_verified(folder: Path) -> list[Verified]:
    """What `write_verified` wrote."""
    from pyarrow import parquet

    def row(values: dict[str, Any]) -> Verified:
        groups = {name: tuple(values[name]) for name in ("members_i", "members_j")}
        return Verified(**{**values, **groups})

    return [row(values) for values in parquet.read_table(folder / FILE, columns=list(FIELDS)).to_pylist()]
