"""Masks as columns of bits, and margins rounded to 32 bits, against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lasso_problems import random_masks
from naive_lasso import unpack_words

from datamodels_inf import PackedMasks
from datamodels_inf.lasso.columns import ColumnBits, Rounded


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
