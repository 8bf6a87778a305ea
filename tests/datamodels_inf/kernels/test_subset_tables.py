"""Tables of the sums of all subsets."""

import numpy as np
import pytest

from datamodels_inf.kernels.subset_tables import CACHE_LINE, aligned, tabulate, widths_of_word


@pytest.mark.parametrize(("width", "widths"), [(5, 12 * (5,) + (4,)), (6, 10 * (6,) + (4,)), (8, 8 * (8,))])
def test_widths_of_a_word(width, widths):
    assert widths_of_word(width) == widths


@pytest.mark.parametrize(("kind", "length"), [(np.uint8, 64), (np.int64, 8), (np.int64, 16)])
def test_tables_hold_the_sums_of_all_subsets(kind, length):
    widths = (3, 1, 4)
    summands = np.random.default_rng(0).integers(0, 9, (8, length)).astype(kind)
    tables = np.full((8 + 2 + 16, length), 77, kind)
    tabulate(summands, widths, tables)
    line = row = 0
    for width in widths:
        for e in range(2**width):
            inside = [row + b for b in range(width) if e >> b & 1]
            np.testing.assert_array_equal(tables[line + e], summands[inside].sum(axis=0))
        line, row = line + 2**width, row + width


def test_memory_begins_with_a_line_of_the_cache():
    for shape, kind in [((3, 5), np.uint8), ((2, 700, 128), np.uint16)]:
        array = aligned(shape, kind)
        assert (array.shape, array.dtype, array.ctypes.data % CACHE_LINE) == (shape, kind, 0)
        assert array.flags.c_contiguous
