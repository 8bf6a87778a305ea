"""The tests of one method as a report has them: columns, what the correction made of them, and rows for the shown ones.

Nothing here makes an object for each test: there may be millions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.findings import Family, decided, finding_order
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.multiplicity import threshold
from datamodels_inf.pair_answers import UNSEEN
from datamodels_inf.shape import Shape
from pipeline.columns import Columns, codes_and_words, places_among
from pipeline.report.rows import COLUMNS, Numbered, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

MISSES = 5
KEPT = 2000
"""Findings of a method of which rows are kept: no page and no report.json lists more."""


@dataclass(frozen=True, eq=False)
class Group:
    """The tests of one method.

    columns: the tests themselves. added: what the correction made of them, by column, in the same order; n_rows is None
    where it is not known. unseen: of tests whose p-values are coins, whatever the truth, why: its place among
    UNSEEN, from 1; 0 for all others.
    """

    method: str
    columns: Columns
    added: Mapping[str, Any]
    pvalue: Floats
    unseen: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.pvalue)

    @cached_property
    def n_tests(self) -> int:
        """Tests that were made, so have a p-value: the family of the correction."""
        return int(np.count_nonzero(~np.isnan(self.pvalue)))

    @cached_property
    def n_unseen(self) -> int:
        """Of these, those whose p-values say nothing about the truth."""
        return int(np.count_nonzero((self.unseen > 0) & ~np.isnan(self.pvalue)))

    @cached_property
    def n_found_unseen(self) -> int:
        """Findings among these: a coin made them."""
        return int(np.count_nonzero(self.unseen[self.places]))

    @cached_property
    def n_equal_weights(self) -> int:
        """Of these, those where θ̂_i = θ̂_j, so that a method which looks through the weights sees nothing."""
        return int(np.count_nonzero((self.unseen == 1) & ~np.isnan(self.pvalue)))

    @cached_property
    def places(self) -> Ints:
        """Of the findings, by their number."""
        found = np.flatnonzero(self.added["finding"])
        return found[self._order(found)]

    @property
    def n_found(self) -> int:
        """Findings."""
        return len(self.places)

    def _order(self, places: Ints) -> Ints:
        own = (self.columns.column(name)[places] for name in ("effect", "target", "i", "j"))
        return finding_order(self.pvalue[places], *own)

    @cached_property
    def weighted(self) -> Floats:
        """What a correction with a prior looks at: p/w, infinite for w = 0."""
        weight = self.added["weight"]
        if (weight == 1.0).all():
            return self.pvalue
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isnan(self.pvalue), np.nan, np.where(weight > 0.0, self.pvalue / weight, np.inf))

    @cached_property
    def kept(self) -> tuple[Numbered, ...]:
        """The first findings, no more than any page lists."""
        return self.numbered(range(1, min(self.n_found, KEPT) + 1))

    def numbered(self, numbers: Sequence[int]) -> tuple[Numbered, ...]:
        """Findings by their numbers, from 1."""
        rows = rows_of(self.table(self.places[np.array(numbers, np.int64) - 1]))
        return tuple(Numbered(number, row, self.n_found) for number, row in zip(numbers, rows, strict=True))

    @cached_property
    def misses(self) -> tuple[Numbered, ...]:
        """Where nothing was found: the closest of the tests that could have found something."""
        if self.n_found:
            return ()
        able = np.flatnonzero(~np.isnan(self.pvalue) & (self.unseen == 0))
        if len(able) > MISSES:  # Those that may be among the first, however ties are broken.
            able = able[self.pvalue[able] <= np.partition(self.pvalue[able], MISSES - 1)[MISSES - 1]]
        nearest = able[self._order(able)][:MISSES]
        return tuple(Numbered(k, row, 0) for k, row in enumerate(rows_of(self.table(nearest)), start=1))

    def drawn(self, max_panels: int) -> tuple[Numbered, ...]:
        """What gets a panel on the page: the first findings, or else the closest misses."""
        return self.kept[:max_panels] if self.n_found else self.misses

    def threshold(self, correction: str, alpha: float, shape: Shape | None = None) -> float:
        """The findings are the tests with p-values up to this; with none, what the smallest would have had to be.

        shape: of a correction with a prior, for which it is p/w that is compared.
        """
        largest = float(self.pvalue[self.places].max()) if self.n_found else 0.0
        return threshold(correction, alpha, self.n_tests, self.n_found, largest=largest, shape=shape)

    @cached_property
    def nearest(self) -> float:
        """p/w nearest to the threshold: the largest of a finding, or where there is none, the smallest of all."""
        if self.n_found:
            return float(self.weighted[self.places].max())
        return float(np.nanmin(self.weighted)) if self.n_tests else math.nan

    @cached_property
    def least_effect(self) -> float:
        """The smallest size of a finding's effect, or of the closest miss; NaN where none is known."""
        effects = self.columns.column("effect")[self.places]
        if not self.n_found:
            effects = np.array([item.row.effect for item in self.misses[:1]])
        sizes = np.abs(effects[np.isfinite(effects)])
        return float(sizes.min()) if sizes.size else math.nan

    @cached_property
    def targets(self) -> Ints:
        """The tested targets."""
        return np.unique(self.columns.column("target"))

    @cached_property
    def class_counts(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(class of i, class of j) → tests that were made, and findings; in the order in which they come first."""
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        start = 0
        for batch in self.columns.batches(["class_i", "class_j"]):
            (i, names_i), (j, names_j) = (codes_and_words(batch[name]) for name in ("class_i", "class_j"))
            own = slice(start, start + len(i))
            start = own.stop
            made = ~np.isnan(self.pvalue[own])
            both, first = np.unique(i[made].astype(np.int64) * len(names_j) + j[made], return_index=True)
            size = len(names_i) * len(names_j)
            tests, found = (
                np.bincount((i.astype(np.int64) * len(names_j) + j)[some], minlength=size)
                for some in (made, self.added["finding"][own])
            )
            for code in both[np.argsort(first)].tolist():
                pair = names_i[code // len(names_j)], names_j[code % len(names_j)]
                old = counts.get(pair, (0, 0))
                counts[pair] = old[0] + int(tests[code]), old[1] + int(found[code])
        return counts

    def table(self, places: Ints) -> pa.Table:
        """Some tests, with the columns COLUMNS."""
        return self._whole(self.columns.take(places), places)

    def batches(self) -> Iterator[pa.Table]:
        """All tests in their order, some at a time, with the columns COLUMNS."""
        start = 0
        for batch in self.columns.batches():
            yield self._whole(batch, np.arange(start, start + batch.num_rows))
            start += batch.num_rows

    def _whole(self, part: pa.Table, places: Ints) -> pa.Table:
        import pyarrow as pa

        whole = {name: part[name] for name in part.column_names}
        for name, values in self.added.items():
            whole[name] = pa.nulls(len(places), pa.int64()) if values is None else pa.array(values[places])
        method = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(places), np.int32)), [self.method])
        whole["method"] = method
        return pa.table({name: whole[name] for name in COLUMNS if name in whole})


def group_of(
    method: str, columns: Columns, family: Family, n_rows: int, progress: Callable[[float], object] | None = None
) -> Group:
    """The tests of a method, decided; n_rows: the models that tested each pair. progress: told parts of 1."""

    def step(share: float) -> None:
        if progress is not None:
            progress(share)

    found = np.flatnonzero(family.found)
    step(0.4)
    effects = [columns.column(name)[found] for name in ("effect", "effect_se", "effect_df")]
    step(0.1)
    added = decided(family, *effects, n_rows=n_rows)
    step(0.2)
    group = Group(method, columns, added, family.pvalue, places_among(columns, "note", UNSEEN))
    group.places  # noqa: B018  Sorted here, where progress is told.
    step(0.3)
    return group
