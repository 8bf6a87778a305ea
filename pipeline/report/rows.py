"""The tests of a report as rows, and how they are ordered, numbered and grouped. No files here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.multiplicity import threshold
from datamodels_inf.shape import Shape
from pipeline.findings import finding_order
from pipeline.report.effects import Estimated

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
MISSES = 5

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
    def pvalue_weighted(self) -> float:
        """What a correction with a prior looks at: p/w, infinite for w = 0."""
        return self.pvalue / self.weight if self.weight > 0.0 else math.inf

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
        return re.sub(r"[^\w-]", "_", self.row.method)


@dataclass(frozen=True)
class Group:
    """The tests of one method, the findings in page order, and, if there is none, the closest misses."""

    method: str
    tests: tuple[Row, ...]
    findings: tuple[Numbered, ...]
    misses: tuple[Numbered, ...]

    @property
    def n_tests(self) -> int:
        """Tests that were made, so have a p-value: the family of the correction."""
        return sum(not math.isnan(row.pvalue) for row in self.tests)

    def threshold(self, correction: str, alpha: float, shape: Shape | None = None) -> float:
        """The findings are the tests with p-values up to this; with none, what the smallest would have had to be.

        shape: of a correction with a prior, for which it is p/w that is compared.
        """
        largest = max((item.row.pvalue for item in self.findings), default=0.0)
        return threshold(correction, alpha, self.n_tests, len(self.findings), largest=largest, shape=shape)

    def drawn(self, max_panels: int) -> tuple[Numbered, ...]:
        """What gets a panel on the page: the first findings, or else the closest misses."""
        return self.findings[:max_panels] if self.findings else self.misses


def rows_of(table: Mapping[str, NDArray[Any]]) -> list[Row]:
    """The rows of a table of tests, with what the correction made of them (`datamodels_inf.findings.decide`)."""
    names = [name for name in COLUMNS if name in table]
    columns = (table[name].tolist() for name in names)
    return [Row(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """The tests by method, by rising p-value. The findings of each method are numbered from 1."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    groups: list[Group] = []
    for method, some in by_method.items():
        tests = _in_order(some)
        rows_found = [row for row in tests if row.finding]
        found = tuple(Numbered(k, row, len(rows_found)) for k, row in enumerate(rows_found, start=1))
        nearest = [row for row in tests[:MISSES] if not found and not math.isnan(row.pvalue)]
        misses = tuple(Numbered(k, row, 0) for k, row in enumerate(nearest, start=1))
        groups.append(Group(method, tuple(tests), found, misses))
    return groups


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """As findings are numbered; the first of equal ones first."""
    columns = (np.array([getattr(row, name) for row in rows]) for name in ("pvalue", "effect", "target", "i", "j"))
    return [rows[place] for place in finding_order(*columns).tolist()]
