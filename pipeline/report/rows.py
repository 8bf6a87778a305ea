"""A test that is shown, as a row: all other tests stay columns (`pipeline.report.groups`). No files here."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pipeline.report.effects import Estimated

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (
    "method",
    "i",
    "j",
    "target",
    "class_i",
    "class_j",
    "class_target",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "finding",
    "theta_i",
    "theta_j",
    "effect",
    "effect_low",
    "effect_high",
    "effect_se",
    "effect_df",
    "effect_low_selected",
    "effect_high_selected",
    "note",
    "n_rows",
    "weight",
    "n_informative",
    "members_i",
    "members_j",
)

Key: TypeAlias = tuple[str, int, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Row(Estimated):
    """One test: do training images `i` and `j` influence `target` differently? One field per column of the CSV files.

    The three numbers are 0-based positions in `Images.train` and `Images.targets`. `theta_*`, `effect` and the ends
    of its interval may be NaN or infinite; `note` may be empty. effect_se, effect_df: standard error and degrees of
    freedom of that 95 % interval. effect_low_selected, effect_high_selected: the longer interval of a finding, which
    makes up for the selection; NaN for other tests. weight: w of a correction with a prior, else 1. n_rows: models that
    tested the pair. n_informative: models that tell i from j, of all those that the effect is from. Both are None where
    that is not known. members_i, members_j: where two groups are swapped, all their images; i and j are the first.
    """

    method: str
    i: int
    j: int
    target: int
    class_i: str
    class_j: str
    class_target: str
    statistic: float
    pvalue: float
    pvalue_adjusted: float
    finding: bool
    theta_i: float
    theta_j: float
    effect: float
    effect_low: float
    effect_high: float
    effect_se: float
    effect_df: float
    effect_low_selected: float = math.nan
    effect_high_selected: float = math.nan
    weight: float = 1.0
    note: str = ""
    n_rows: int | None = None
    n_informative: int | None = None
    members_i: tuple[int, ...] = ()
    members_j: tuple[int, ...] = ()

    @property
    def left(self) -> tuple[int, ...]:
        """All images of the side of i."""
        return self.members_i or (self.i,)

    @property
    def right(self) -> tuple[int, ...]:
        """All images of the side of j."""
        return self.members_j or (self.j,)

    @property
    def key(self) -> Key:
        """What tells this test from the others."""
        return self.method, self.target, self.left, self.right


@dataclass(frozen=True)
class Numbered:
    """A finding, its number among those of its method, from 1, and how many these are."""

    number: int
    row: Row
    n_found: int

    @property
    def name(self) -> str:
        """Its anchor on the page, such as "contrast-12"."""
        return f"{self.stem}-{self.number}"

    @property
    def stem(self) -> str:
        """Its method, as it may stand in an anchor and in the name of a file."""
        return stem_of(self.row.method)


def stem_of(method: str) -> str:
    """A method as it may stand in an anchor and in the name of a file."""
    return re.sub(r"[^\w-]", "_", method)


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of an Arrow table with the columns COLUMNS, or some of them: one object each, so of few rows only."""
    return [Row(**{name: _value(value) for name, value in row.items()}) for row in table.to_pylist()]


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
