"""The tests of one method as columns: what a report reads of them, pass by pass, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 2**16
WORDS = ("class_i", "class_j", "class_target", "note")
"""Columns of text: few words, many times, so dictionaries."""
MEMBERS = ("members_i", "members_j")


class Columns(Protocol):
    """Tests in the order of the design, one row each: i, j, target, figures, classes, note and members.

    Classes and notes are Arrow dictionaries, members are lists of images.
    """

    def __len__(self) -> int:
        """How many tests there are."""

    def column(self, name: str) -> NDArray[Any]:
        """All numbers of one column."""

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, some at a time; of the columns with these names, or of all."""

    def take(self, places: Ints) -> pa.Table:
        """Some rows, in the order in which they are asked for."""


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Columns that are in memory."""

    table: pa.Table

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]]) -> TableColumns:
        """Of arrays; those of text hold objects, and members are sequences of images."""
        import pyarrow as pa

        made: dict[str, Any] = {}
        for name, values in columns.items():
            if name in WORDS:
                made[name] = pa.array(values.tolist(), pa.string()).dictionary_encode()
            elif name in MEMBERS:
                made[name] = pa.array(values.tolist(), pa.list_(pa.int64()))
            else:
                made[name] = pa.array(values)
        return cls(pa.table(made))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> NDArray[Any]:
        """All numbers of one column."""
        values: NDArray[Any] = self.table[name].to_numpy()
        return values

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, some at a time."""
        table = self.table if names is None else self.table.select(list(names))
        return (table.slice(start, BATCH) for start in range(0, len(self), BATCH))

    def take(self, places: Ints) -> pa.Table:
        """Some rows, in the order in which they are asked for."""
        import pyarrow as pa

        return self.table.take(pa.array(places))


def codes_and_words(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str]]:
    """Of a column of words: the number of each, and the words that the numbers stand for."""
    import pyarrow as pa

    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # Of no rows.
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], pa.string())
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    codes: NDArray[np.int32] = whole.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    words: list[str] = whole.dictionary.to_pylist()
    return codes, words


def places_among(columns: Columns, name: str, words: Sequence[str]) -> NDArray[np.int8]:
    """Of each test the place of its word among `words`, from 1; 0 where it has another."""
    place = {word: k for k, word in enumerate(words, start=1)}
    parts = [np.zeros(0, np.int8)]
    for batch in columns.batches([name]):
        codes, known = codes_and_words(batch[name])
        parts.append(np.array([place.get(word, 0) for word in known] or [0], np.int8)[codes])
    return np.concatenate(parts)
