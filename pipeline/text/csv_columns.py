"""Columns as the cells of a CSV file, millions of them at a time: the same text as `csv_text.cell` gives one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from pipeline.text.csv_text import csv_line, plain

if TYPE_CHECKING:
    import pyarrow as pa

POWERS: Floats = np.array([float(f"1e{k}") for k in range(-4, 11)])
"""Between the first and the last of them, ten digits are written without an exponent."""
SCALES: Floats = np.array([float(f"1e{k}") for k in range(14)])
UNSURE = 1e-5
"""So near to the middle between two numbers of ten digits, a product with a power of ten may be on the wrong side."""


def float_texts(values: Floats) -> pa.Array:
    """Ten significant digits each, as format(value, ".10g") writes them.

    A number of ten digits is k/10^e with k and 10^e exact in floating point, so that the quotient is the float nearest
    to it, whose shortest text has no more digits than these. What is too small or too large for that, or lies in the
    middle between two of them, Python writes.

    >>> float_texts(np.array([2 / 3, 1e-7, np.nan])).to_pylist()
    ['0.6666666667', '1e-07', 'nan']
    """
    import pyarrow as pa
    from pyarrow import compute

    size = np.abs(values)
    plain_ones = (size >= POWERS[0]) & (size < POWERS[-1])
    magnitude = np.clip(np.searchsorted(POWERS, size, "right") - 5, -4, 9)  # 10^magnitude ≤ size
    scale = SCALES[9 - magnitude]
    scaled = np.where(plain_ones, size, 0.0) * scale
    rounded = np.rint(scaled)
    unsure = np.abs(np.abs(scaled - rounded) - 0.5) < UNSURE
    short = np.where(plain_ones, np.copysign(rounded / scale, values), values)
    texts = compute.cast(pa.array(short), pa.string())
    by_python = np.isfinite(values) & (size > 0.0) & (~plain_ones | unsure)
    if not by_python.any():
        return texts
    written = pa.array([plain(value) for value in values[by_python].tolist()], pa.string())
    return compute.replace_with_mask(texts, pa.array(by_python), written)


def whole_texts(values: Ints | pa.Array) -> pa.Array:
    """Whole numbers; what is not known is empty."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.fill_null(compute.cast(pa.array(values), pa.string()), "")


def flag_texts(values: NDArray[np.bool_]) -> pa.Array:
    """ "true" and "false"."""
    import pyarrow as pa

    return word_texts(values.astype(np.int32), ("false", "true")).cast(pa.string())


def word_texts(codes: Ints | NDArray[np.int32], words: Sequence[str]) -> pa.Array:
    """words[code] of each code, quoted where CSV wants it."""
    import pyarrow as pa

    cells = pa.array([quoted(word) for word in words], pa.string())
    return cells.take(pa.array(codes))


def quoted(text: str) -> str:
    """A text as it stands between two commas.

    >>> quoted("dog"), quoted("a, b"), quoted("=1")
    ('dog', '"a, b"', "'=1")
    """
    return csv_line((text, ""))[:-1]


def list_texts(lists: Any) -> pa.Array:
    """Whole numbers with blanks between, of an Arrow array of lists."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.binary_join(lists.cast(pa.list_(pa.string())), " ")


def write_lines(file: BinaryIO, columns: Iterable[Any]) -> None:
    """Lines whose cells are the texts of `columns`, which are as long as each other."""
    from pyarrow import compute

    first, *others = columns
    lines = compute.binary_join_element_wise(compute.binary_join_element_wise(first, *others, ","), "", "\n")
    for chunk in getattr(lines, "chunks", [lines]):
        if len(chunk):
            ends = np.frombuffer(chunk.buffers()[1], np.int32)[[chunk.offset, chunk.offset + len(chunk)]]
            file.write(memoryview(chunk.buffers()[2])[ends[0] : ends[1]])
