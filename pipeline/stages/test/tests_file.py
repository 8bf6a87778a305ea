"""The test stage's table, tests.parquet, read again: columns of one method, without an object for each test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from pipeline.columns import WORDS
from pipeline.store.cache import Result
from pipeline.summaries import TestSummary, read_summary

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

FILE = "tests.parquet"


@dataclass(frozen=True, eq=False)
class MethodTests:
    """The rows start..stop of the table: the tests of one method, in the order of the design.

    Only what is asked for is read, a group of rows at a time.
    """

    path: Path
    start: int
    stop: int

    @classmethod
    def of(cls, folder: Path, method: str, methods: Sequence[str], n_tests: int) -> MethodTests:
        """Those of a method among `methods`, each of which has `n_tests`, in the folder of the test stage."""
        place = list(methods).index(method)
        return cls(folder / FILE, place * n_tests, (place + 1) * n_tests)

    @classmethod
    def of_result(cls, result: Result, method: str) -> MethodTests:
        """Those of a method in the result of the test stage."""
        summary = read_summary(result, TestSummary)
        return cls.of(result.folder, method, summary.methods, summary.n_tests)

    def __len__(self) -> int:
        return self.stop - self.start

    @cached_property
    def _file(self) -> parquet.ParquetFile:
        from pyarrow import parquet

        words = [name for name in parquet.read_schema(self.path).names if name in WORDS]
        return parquet.ParquetFile(self.path, read_dictionary=words)

    @cached_property
    def _names(self) -> list[str]:
        return [name for name in self._file.schema_arrow.names if name != "method"]

    @cached_property
    def _bounds(self) -> Ints:
        """Where the groups of rows begin, and where the last ends."""
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        return np.cumsum([0, *sizes])

    def _groups(self) -> Iterator[tuple[int, int, int]]:
        """(group, first of its rows that is ours, the one after the last), of the groups that have any."""
        for group, (low, high) in enumerate(zip(self._bounds[:-1].tolist(), self._bounds[1:].tolist(), strict=True)):
            first, last = max(low, self.start), min(high, self.stop)
            if first < last:
                yield group, first - low, last - low

    def column(self, name: str) -> NDArray[Any]:
        """All numbers of one column."""
        parts = [batch[name].to_numpy() for batch in self.batches([name])]
        return np.concatenate(parts) if parts else np.zeros(0)

    def sizes(self) -> Ints:
        """How many images each side of each test has: 1, or those of a group."""
        parts = [
            np.diff(batch["members_i"].combine_chunks().offsets.to_numpy()) for batch in self.batches(["members_i"])
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, a group at a time; of the columns with these names, or of all."""
        for group, first, last in self._groups():
            yield self._file.read_row_group(group, columns=list(names or self._names)).slice(first, last - first)

    def take(self, places: Ints, names: Sequence[str] | None = None) -> pa.Table:
        """Some rows, in the order in which they are asked for."""
        import pyarrow as pa

        order = np.argsort(places, kind="stable")
        rising, parts, start = np.asarray(places)[order], [], 0
        for group, first, last in self._groups():
            stop = start + last - first
            own = rising[np.searchsorted(rising, start) : np.searchsorted(rising, stop)]
            if own.size:
                part = self._file.read_row_group(group, columns=list(names or self._names))
                parts.append(part.take(pa.array(own - start + first)))
            start = stop
        if not parts:
            return self._file.schema_arrow.empty_table().select(list(names or self._names))
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables(parts).unify_dictionaries().take(pa.array(back))
