"""Masks of some rows, from any form: the same bits, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pipeline.errors import BadInputError
from pipeline.sources.mask_rows import ListedRows, NumberRows, PackedRows, largest_index

MASKS = arrays.arrays(bool, st.tuples(st.integers(1, 9), st.integers(2, 21)))


def listed(masks, included):
    lists = [np.flatnonzero(mask == included) for mask in masks]
    bounds = np.cumsum([0, *map(len, lists)])
    return ListedRows("x", np.concatenate(lists).astype(np.int64), bounds, masks.shape[1], included)


@given(MASKS, st.data())
def test_every_form_gives_the_same_bits(masks, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(masks) - 1), min_size=1, max_size=12)))
    expected = np.packbits(masks[rows], axis=1)
    kind = data.draw(st.sampled_from(("?", "u1", "i1", "i8", "f2", ">f4", "f8")))
    for form in (
        NumberRows("x", masks.astype(kind)),
        PackedRows("x", np.packbits(masks, axis=1), masks.shape[1]),
        listed(masks, True),
        listed(masks, False),
    ):
        np.testing.assert_array_equal(form.bits(rows), expected)
        assert (form.n_models, form.n_train) == masks.shape


@pytest.mark.parametrize("value", (2, -1, 0.5, np.nan))
def test_numbers_other_than_0_and_1_are_named_with_their_place(value):
    array = np.zeros((5, 3))
    array[4, 1] = value
    NumberRows("m.npy", array).bits(np.arange(4))
    with pytest.raises(BadInputError, match=r"m\.npy must hold nothing but 0 and 1, .* in row 4, column 1; packed"):
        NumberRows("m.npy", array).bits(np.array([0, 4]))


def test_bits_after_the_last_image_are_refused():
    bits = np.array([[0b11100000], [0b11110000]], np.uint8)
    assert PackedRows("m.npy", bits, 3).bits(np.array([0])).tolist() == [[0b11100000]]
    with pytest.raises(BadInputError, match=r"m\.npy has bits after the last of 3 images, in row 1: pack with"):
        PackedRows("m.npy", bits, 3).bits(np.array([0, 1]))


@pytest.mark.parametrize(
    ("indices", "sentence"),
    [
        ([0, 1, 2, 2], "lists an image twice in row 1; a list must name different images"),
        ([0, 1, 2, -1], "lists image -1 in row 1, but images go from 0 to 4"),
        ([0, 1, 5, 2], "lists image 5 in row 1, but images go from 0 to 4; correct the list, or n_train"),
    ],
)
def test_lists_that_are_none(indices, sentence):
    rows = ListedRows("indices.npy", np.array(indices), np.array([0, 2, 4]), 5)
    assert rows.bits(np.array([0])).tolist() == [[0b11000000]]
    with pytest.raises(BadInputError, match=rf"indices\.npy {sentence}"):
        rows.bits(np.array([0, 1]))


def test_of_long_lists_few_rows_are_dense_at_a_time(monkeypatch):
    masks = np.random.default_rng(0).random((50, 30)) < 0.5
    expected = listed(masks, True).bits(np.arange(50))
    monkeypatch.setattr("pipeline.sources.mask_rows.DENSE_CELLS", 100)
    np.testing.assert_array_equal(listed(masks, True).bits(np.arange(50)), expected)
    assert listed(masks, False).bits(np.arange(0)).shape == (0, 4)


def test_the_largest_index_of_no_list_is_none():
    assert (largest_index(np.array([3, 9, 1])), largest_index(np.array([], np.int64))) == (9, -1)


def test_lists_that_may_count_from_1_are_asked_about():
    for largest, words in (
        (5, r"do the lists count from 1\? Then subtract 1, or correct the list"),
        (6, "correct the list"),
    ):
        rows = ListedRows("indices.npy", np.array([4, 1, largest, 2]), np.array([0, 2, 4]), 5)
        with pytest.raises(BadInputError, match=f"images go from 0 to 4; {words}, or n_train"):
            rows.bits(np.arange(2))
