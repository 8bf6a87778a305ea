"""Masks, outcomes and scores in all the forms that people have them in become one form; what is wrong is said."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from datamodels_inf import PackedMasks
from datamodels_inf.analysis.inputs import Data, read_bias, read_masks, read_outcomes, read_theta

MASKS = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], bool)
LISTS = [np.flatnonzero(row) for row in MASKS]


@pytest.mark.parametrize(
    "masks",
    (
        MASKS,
        MASKS.astype(np.uint8),
        MASKS.astype(float),
        MASKS.tolist(),
        PackedMasks.from_bool(MASKS),
        pd.DataFrame(MASKS),
        csr_matrix(MASKS),
    ),
)
def test_masks_of_any_form(masks):
    assert (read_masks(masks).to_bool() == MASKS).all()
    assert (read_masks(masks, n_train=4).to_bool() == MASKS).all()


@pytest.mark.parametrize("lists", (LISTS, [row.tolist() for row in LISTS], np.array([[0, 2], [1, 2], [0, 1]])))
def test_lists_of_images(lists):
    masks = read_masks(lists, n_train=4).to_bool()
    assert [np.flatnonzero(row).tolist() for row in masks] == [sorted(row) for row in map(list, lists)]


def test_lists_as_long_as_there_are_images_are_known_by_their_values():
    assert read_masks([[0, 1, 2], [2, 1, 0]], n_train=3).to_bool().all()
    assert read_masks([[0, 1, 1], [1, 1, 0]], n_train=3).to_bool().tolist() == [
        [False, True, True],
        [True, True, False],
    ]


@pytest.mark.parametrize(
    ("masks", "n_train", "words"),
    (
        (MASKS[0], None, "must have shape \\(n_models, n_train\\)"),
        (MASKS * 2, None, "only 0 and 1; if its rows list the images that each model saw, give `n_train`"),
        (LISTS, None, "lists of the images that each model saw need `n_train`"),
        (MASKS, 5, "from 0 to 4|whole numbers"),
        (PackedMasks.from_bool(MASKS), 5, "`n_train` is 5, but `masks` has 4 columns"),
        ([[0, 9]], 4, "images from 0 to 3, but row 0 has 0 to 9"),
        ([[0], [1, 1]], 4, "row 1 has one twice"),
        ([[0], [1.5, 2.0]], 4, "whole numbers"),
        (np.array([[True, False], [False, False]]), None, "without any image, in row 1: were these models trained"),
        ("abc", None, "`masks`"),
    ),
)
def test_bad_masks(masks, n_train, words):
    with pytest.raises(ValueError, match=words):
        read_masks(masks, n_train)


def test_outcomes_keep_their_type_and_get_two_dimensions():
    assert read_outcomes(np.ones((3, 2), np.float16), 3).dtype == np.float16
    assert read_outcomes([1, 2, 3], 3).tolist() == [[1.0], [2.0], [3.0]]
    assert read_outcomes(pd.Series([1.0, 2.0]), 2).shape == (2, 1)


@pytest.mark.parametrize(
    ("outcomes", "words"),
    (
        (np.ones(4), "one row a mask, but it is \\(4,\\)"),
        (np.ones((3, 0)), "n_targets"),
        ([1.0, np.nan, 2.0], "rows 1 are not; mend or leave out these rows"),
        (["a", "b", "c"], "real numbers"),
        ([1.0, 1e200, 2.0], "must not be larger than 1e\\+150"),
    ),
)
def test_bad_outcomes(outcomes, words):
    with pytest.raises(ValueError, match=words):
        read_outcomes(outcomes, 3)


def test_theta_is_turned_only_where_one_way_fits():
    theta = np.arange(8.0).reshape(4, 2)
    assert (read_theta(theta, 4, 2) == theta).all()
    assert (read_theta(theta.T, 4, 2) == theta).all()
    square = np.arange(16.0).reshape(4, 4)
    assert (read_theta(square, 4, 4) == square).all()
    with pytest.raises(ValueError, match="\\(5, 2\\), one row a training image and one column a target"):
        read_theta(theta, 5, 2)
    with pytest.raises(ValueError, match="`theta` must be finite"):
        read_theta(np.where(theta == 3, np.nan, theta), 4, 2)


def test_bias_is_one_a_target():
    assert read_bias(None, 2).tolist() == [0.0, 0.0]
    assert read_bias(1.5, 2).tolist() == [1.5, 1.5]
    assert read_bias([1.0, 2.0], 2).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="`bias` must be 2 numbers"):
        read_bias([1.0, 2.0, 3.0], 2)


def test_tables_bring_their_names():
    frame, outcomes = pd.DataFrame(MASKS, columns=list("abcd")), pd.DataFrame({"loss": np.ones(3)})
    options = {"n_train": None, "labels": None, "images": None}
    assert Data.of(frame, outcomes, names=None, **options).items.names == (tuple("abcd"), ("loss",))
    assert Data.of(frame, outcomes, names=list("wxyz"), **options).items.names == (tuple("wxyz"), None)
    data = Data.of(MASKS, np.arange(6.0).reshape(3, 2), names=None, **options)
    assert data.items.names == (None, None)
    assert data.outcomes_of((1, 3), np.array([1])).tolist() == [[3.0], [5.0]]


def test_masked_entries_are_no_values():
    with pytest.raises(ValueError, match="`outcomes` has masked entries"):
        read_outcomes(np.ma.masked_equal([1.0, -999.0, 2.0], -999.0), 3)
    assert read_outcomes(np.ma.masked_equal([1.0, 3.0, 2.0], -999.0), 3).shape == (3, 1)


def test_rows_of_two_tables_must_be_labelled_alike():
    masks, outcomes = pd.DataFrame(MASKS), pd.Series([1.0, 2.0, 3.0])
    options = {"n_train": None, "labels": None, "names": None, "images": None}
    assert Data.of(masks, outcomes, **options).outcomes.shape == (3, 1)
    with pytest.raises(ValueError, match="the rows of `outcomes` are not labelled as those of `masks`"):
        Data.of(masks, outcomes.iloc[::-1], **options)
