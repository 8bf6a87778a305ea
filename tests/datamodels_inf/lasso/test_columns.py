"""Masks as columns of bits, and the compiled loops on them, against plain numpy."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_lasso import naive_add_columns, naive_transpose_bits, random_words, unpack_words

from datamodels_inf import PackedMasks
from datamodels_inf.internal.threads import even_slices, in_threads
from datamodels_inf.kernels.coordinate_descent import add_columns, count_ones, transpose_bits
from datamodels_inf.lasso.columns import ColumnBits, Rounded

SHAPES = [(1, 1), (7, 9), (8, 8), (9, 7), (63, 64), (64, 65), (65, 3), (511, 10), (512, 17), (513, 1), (1100, 13)]


def random_masks(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d)) < 0.5


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("first_word", (0, 3))
def test_transpose_bits_equals_its_naive_twin(shape, first_word):
    n, d = shape
    bits = np.packbits(random_masks(n, d), axis=1)
    expected = naive_transpose_bits(bits, d)
    words = np.zeros((d, first_word + expected.shape[1] + 2), np.uint64)
    transpose_bits(bits, words, first_word)
    np.testing.assert_array_equal(words[:, first_word:-2], expected)
    assert not words[:, :first_word].any()
    assert not words[:, -2:].any()


@pytest.mark.parametrize(("d", "first", "last"), [(1, 0, 64), (9, 64, 192), (5, 0, 0)])
def test_count_ones_equals_its_naive_twin(d, first, last):
    words, counts = random_words((d, last + 3), d), np.full(d, -1)
    count_ones(words, first, last, counts)
    np.testing.assert_array_equal(counts, unpack_words(words[:, first:last]).sum(axis=1))


@pytest.mark.parametrize(("d", "width", "first", "used"), [(1, 1, 0, 1), (7, 3, 2, 4), (12, 20, 1, 0)])
def test_add_columns_equals_its_naive_twin(d, width, first, used):
    rng = np.random.default_rng(4)
    words, out = random_words((d, first + width + 2), 5), rng.standard_normal(64 * width)
    features, weights = rng.permutation(d)[:used], rng.standard_normal(used)
    expected = naive_add_columns(words, features, first, weights, out)
    add_columns(words, features, first, weights, out)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize(
    ("n", "d", "split"), [(2, 1, 2), (65, 9, 64), (130, 20, 65), (200, 30, 1), (300, 4130, 237), (17_001, 11, 8_233)]
)
def test_columns_hold_the_masks_of_both_parts(n, d, split, threads):
    """Sizes beyond one piece of rows and of columns; each part begins with a word of its own."""
    masks = random_masks(n, d, n)
    bits = ColumnBits(PackedMasks.from_bool(masks), split, threads)
    assert (bits.n_columns, bits.training.n, bits.validation.n) == (d, split, n - split)
    for part, rows, sums in (
        (bits.training, masks[:split], bits.sums[0]),
        (bits.validation, masks[split:], bits.sums[1]),
    ):
        unpacked = unpack_words(bits.words[:, part.words])
        np.testing.assert_array_equal(unpacked[:, : part.n], rows.T)
        assert not unpacked[:, part.n :].any()
        np.testing.assert_array_equal(sums, rows.sum(axis=0))
        assert sums.dtype == np.int64
        which = np.random.default_rng(1).permutation(d)[: d // 2 + 1]
        some = which[:140]
        common = np.full((some.size, d), -1)

        def keep(piece, counts, common=common):
            common[:, piece] = counts

        bits.count_common(some, which, part, keep)
        expected = rows[:, some].T.astype(int) @ rows[:, which].astype(int)
        np.testing.assert_array_equal(common[:, which], expected)


@pytest.mark.parametrize("threads", (1, 2))
def test_weighted_sums_are_exact(threads):
    masks = random_masks(777, 600, 2)
    bits = ColumnBits(PackedMasks.from_bool(masks), 500, threads)
    y = np.random.default_rng(3).integers(-50, 50, 777) / 8.0
    y[[0, 500]], y[[1, 501]] = 0.0, (2**32 - 1) / 2**18  # A grid of 2⁻¹⁸: every value of y lies on it.
    y = np.clip(y, 0.0, None)
    for part, rows in ((bits.training, slice(0, 500)), (bits.validation, slice(500, 777))):
        targets = [Rounded(values[rows]) for values in (y, np.zeros(777), 4.0 * y)]
        np.testing.assert_array_equal(targets[0].values, y[rows])
        expected = y[rows] @ masks[rows]
        np.testing.assert_array_equal(bits.weighted_sums(targets, part), [expected, 0.0 * expected, 4.0 * expected])
        shifted = bits.weighted_sums([Rounded(y[rows] - 7.25)], part)[0]
        np.testing.assert_allclose(shifted, (y[rows] - 7.25) @ masks[rows], rtol=1e-12, atol=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), offset=st.sampled_from([0.0, 1e5, -3e7]))
def test_rounded_holds_y_to_a_part_in_two_to_the_33(values, offset):
    y = np.array(values) + offset
    rounded = Rounded(y)
    assert ((rounded.steps >= 0) & (rounded.steps < 2**32)).all()
    np.testing.assert_allclose(rounded.values, y, rtol=1e-15, atol=float(np.ptp(y)) * 2.0**-33 * (1 + 1e-6))
    np.testing.assert_allclose(rounded.offset + rounded.step * rounded.steps, rounded.values, rtol=1e-15)


def test_rounded_constant_and_float16():
    constant = Rounded(np.full(70, 0.1))
    assert (constant.values == 0.1).all()
    assert not constant.steps.any()
    y = np.random.default_rng(0).standard_normal(1000).astype(np.float16).astype(np.float64)
    np.testing.assert_allclose(Rounded(y).values, y, atol=np.ptp(y) * 2.0**-33 * (1 + 1e-6))


@pytest.mark.parametrize(("count", "most", "threads"), [(0, 5, 2), (1, 5, 2), (10, 5, 2), (11, 5, 2), (5000, 512, 3)])
def test_even_slices_cover_all_and_are_even(count, most, threads):
    slices = even_slices(count, most, threads)
    assert [k for s in slices for k in range(count)[s]] == list(range(count))
    lengths = [s.stop - s.start for s in slices]
    assert max(lengths, default=0) <= most
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
    assert count < threads or len(slices) % threads == 0


@pytest.mark.parametrize("threads", (1, 4))
def test_in_threads_does_every_item_and_passes_on_errors(threads):
    done = []
    in_threads(done.append, range(50), threads)
    assert sorted(done) == list(range(50))
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda item: 1 // (item - 7), range(50), threads)


@pytest.mark.parametrize("mode", ("r", "r+", "c"))
def test_a_memory_mapped_file_keeps_its_content(tmp_path, mode):
    """Pages that have been read are given back to the system; what the caller wrote in a copy must stay."""
    masks = random_masks(20_000, 40, 6)
    np.save(tmp_path / "bits.npy", np.packbits(masks, axis=1))
    bits = np.load(tmp_path / "bits.npy", mmap_mode=mode)
    if mode != "r":
        masks[[3, 19_000]] = ~masks[[3, 19_000]]
        bits[[3, 19_000]] = np.packbits(masks[[3, 19_000]], axis=1)
    held = ColumnBits(PackedMasks(bits, 40), 11_000, 1)
    np.testing.assert_array_equal(unpack_words(held.words[:, held.training.words])[:, :11_000], masks[:11_000].T)
    np.testing.assert_array_equal(unpack_words(held.words[:, held.validation.words])[:, :9_000], masks[11_000:].T)
    np.testing.assert_array_equal(bits, np.packbits(masks, axis=1))


def test_in_threads_leaves_nobody_working_after_an_error():
    started, ended = [], []

    def work(item):
        started.append(item)
        if item == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        ended.append(item)

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(50), 3)
    assert sorted(started) == sorted([0, *ended])
    assert len(started) < 50


FORKED = """
import os
from datamodels_inf.internal.threads import in_threads
done = []
in_threads(done.append, range(4), 2)
child = os.fork()
in_threads(done.append, range(4), 2)
if child == 0:
    os._exit(len(done))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == len(done) == 8
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_of_a_forked_process_are_its_own():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=60)


def test_the_package_is_imported_without_numba():
    """It is slow to import, and only many pairs and fits need it."""
    subprocess.run([sys.executable, "-c", "import sys, datamodels_inf; assert 'numba' not in sys.modules"], check=True)
