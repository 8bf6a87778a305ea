"""Outcomes of some rows: their precision, their sign, and what is no number."""

import numpy as np
import pytest

from pipeline.errors import BadInputError
from pipeline.sources.outcome_rows import OutcomeRows


@pytest.mark.parametrize("kind", ("f2", "f4", "f8", ">f4", ">f8", "g", "i1", "u2", "i4", "i8", "?"))
def test_no_digit_is_lost(kind):
    array = (np.arange(12).reshape(4, 3) % 2 if kind == "?" else np.arange(12).reshape(4, 3) * 10).astype(kind)
    rows = OutcomeRows("y", array)
    found = rows.values(np.array([3, 0]))
    assert found.dtype == rows.dtype and found.dtype.isnative and found.dtype.itemsize <= 8
    np.testing.assert_array_equal(found, array[[3, 0]].astype(np.float64))


def test_a_factor_turns_the_sign_and_keeps_the_precision():
    array = np.array([[1.5, -2.0]], np.float32)
    found = OutcomeRows("y", array, -1.0).values(np.array([0]))
    assert found.dtype == np.float32 and found.tolist() == [[-1.5, 2.0]]


def test_what_is_not_finite_is_named_by_row_and_column():
    array = np.zeros((9, 4))
    array[5, [1, 3]] = np.nan, np.inf
    array[7, 0] = -np.inf
    rows = OutcomeRows("y.npy", array)
    rows.values(np.array([0, 6]))
    sentence = r"y\.npy holds NaN or infinity in row 5, 7 \(row 5: column 1, 3\); correct them, make the whole row NaN"
    with pytest.raises(BadInputError, match=sentence):
        rows.values(np.arange(9))


def test_rows_of_nothing_but_nan():
    array = np.zeros((5000, 2))
    array[[3, 4999]] = np.nan
    array[7, 0] = np.nan
    assert np.flatnonzero(OutcomeRows("y", array).missing_rows()).tolist() == [3, 4999]
    assert not OutcomeRows("y", np.zeros((4, 2), np.int64)).missing_rows().any()
