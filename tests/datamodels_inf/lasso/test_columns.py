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
    ("d", "ends"),
    [
        (1, (2, 2)),
        (9, (64, 65)),
        (20, (65, 130)),
        (30, (1, 200)),
        (4130, (237, 300)),
        (11, (8_233, 17_001)),
        (3, (40_000, 40_100)),
        (20, (70, 71, 300, 5_000, 5_020)),
    ],
)
def test_columns_hold_the_masks_of_each_part(d, ends, threads):
    """Sizes beyond one piece of rows and of columns; each part begins with a word of its own."""
    masks = random_masks(ends[-1], d, ends[-1])
    bits = ColumnBits(PackedMasks.from_bool(masks), ends, threads)
    assert bits.n_columns == d
    starts = (0, *ends)
    assert [part.n for part in bits.parts] == [end - start for start, end in zip(starts, ends, strict=False)]
    for part, sums in zip(bits.parts, bits.sums, strict=True):
        rows = masks[part.rows]
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


def test_parts_that_follow_each_other_are_counted_as_one():
    masks = random_masks(400, 30, 1)
    bits = ColumnBits(PackedMasks.from_bool(masks), (100, 130, 131, 400), 1)
    span = bits.span(1, 4)
    assert (span.n, span.rows) == (300, slice(100, 400))
    common = np.zeros((30, 30), int)
    bits.count_common(
        np.arange(30), np.arange(30), span, lambda piece, counts: common.__setitem__((..., piece), counts)
    )
    np.testing.assert_array_equal(common, masks[100:].T.astype(int) @ masks[100:].astype(int))


@pytest.mark.parametrize("threads", (1, 2))
def test_weighted_sums_are_exact(threads):
    masks = random_masks(777, 600, 2)
    bits = ColumnBits(PackedMasks.from_bool(masks), (500, 777), threads)
    y = np.random.default_rng(3).integers(-50, 50, 777) / 8.0
    y[[0, 500]], y[[1, 501]] = 0.0, (2**32 - 1) / 2**18  # A grid of 2⁻¹⁸: every value of y lies on it.
    y = np.clip(y, 0.0, None)
    for part, rows in enumerate((slice(0, 500), slice(500, 777))):
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
    held = ColumnBits(PackedMasks(bits, 40), (11_000, 20_000), 1)
    first, second = (unpack_words(held.words[:, part.words])[:, : part.n] for part in held.parts)
    np.testing.assert_array_equal(first, masks[:11_000].T)
    np.testing.assert_array_equal(second, masks[11_000:].T)
    np.testing.assert_array_equal(bits, np.packbits(masks, axis=1))


def test_what_is_told_of_transposing_counting_and_summing_adds_up():
    masks = random_masks(5_000, 60)
    told = []
    bits = ColumnBits(PackedMasks.from_bool(masks), (4_000, 5_000), 2, told.append)
    assert len(told) == 3
    assert sum(told) == pytest.approx(1.0)
    told.clear()
    for part in bits.parts:
        bits.count_common(np.arange(7), np.arange(60), part, lambda piece, counts: None, told.append)
    assert sum(told) == pytest.approx(7.0)
    told.clear()
    for number, part in enumerate(bits.parts):
        bits.weighted_sums([Rounded(np.arange(part.n) / 8)] * 3, number, told.append)
    assert sum(told) == pytest.approx(1.0)
