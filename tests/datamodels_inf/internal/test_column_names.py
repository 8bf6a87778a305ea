"""Columns by name: in a DataFrame, or by names beside an array; every function that takes i and j understands them."""

import numpy as np
import pandas as pd
import pytest

from datamodels_inf import (
    PackedMasks,
    SquaredResidual,
    contrast,
    contrast_many,
    paired_swap_test,
    paired_swap_test_many,
    swap_test,
    swap_test_many,
    tau_x_gaussian,
)
from datamodels_inf.internal.column_names import as_index, as_pairs, column_names, find_column, names_of

NAMES = ("age", "bmi", "bp", "s1")
RNG = np.random.default_rng(0)
X = RNG.random((200, 4)) < 0.5
Y = X[:, 1] + RNG.standard_normal(200)
FRAME = pd.DataFrame(X, columns=NAMES)
SCORE = SquaredResidual([0.1, 0.9, 0.0, 0.2])
TESTS = {
    "swap": lambda x, i, j, **more: swap_test(x, Y, i, j, score=SCORE, **more),
    "paired": lambda x, i, j, **more: paired_swap_test(x, Y, i, j, score=SCORE, **more),
    "contrast": lambda x, i, j, **more: contrast(x, Y, i, j, theta=SCORE.theta, **more),
}
MANY = {
    "swap": lambda x, pairs, **more: swap_test_many(x, Y, pairs, score=SCORE, **more),
    "paired": lambda x, pairs, **more: paired_swap_test_many(x, Y, pairs, score=SCORE, **more),
    "contrast": lambda x, pairs, **more: contrast_many(x, Y, pairs, theta=SCORE.theta, **more),
}


@pytest.mark.parametrize("name", TESTS)
def test_every_test_takes_names(name):
    test = TESTS[name]
    expected = test(X, 1, 3)
    assert test(FRAME, "bmi", "s1") == expected
    assert test(FRAME, "bmi", 3) == expected
    assert test(FRAME, 1, 3) == expected
    assert test(X, "bmi", "s1", names=NAMES) == expected
    assert test(PackedMasks.from_bool(X), "bmi", "s1", names=NAMES) == expected
    assert test(FRAME, ["age", "bmi"], ["bp", 3]) == test(X, [0, 1], [2, 3])
    many = MANY[name](FRAME, [("age", "bp"), ("bmi", "s1")])
    assert many.pvalue.tolist() == MANY[name](X, [(0, 2), (1, 3)]).pvalue.tolist()


@pytest.mark.parametrize("name", TESTS)
def test_names_that_are_not_there_are_refused(name):
    test = TESTS[name]
    with pytest.raises(ValueError, match=r"there is no column 'bmj'; did you mean 'bmi'\?"):
        test(FRAME, "bmj", "s1")
    with pytest.raises(ValueError, match="no names are known; give `names`, a DataFrame, or its number"):
        test(X, "bmi", "s1")
    with pytest.raises(ValueError, match="`names` must be 4 texts, one a column"):
        test(X, "bmi", "s1", names=["bmi"])
    with pytest.raises(ValueError, match="must differ"):
        test(FRAME, "bmi", 1)
    with pytest.raises(ValueError, match=r"there is no column 'zzz'; there are 'age', 'bmi', 'bp', 's1'\."):
        MANY[name](FRAME, [("age", "zzz")])


def test_a_name_that_two_columns_have_is_refused():
    with pytest.raises(ValueError, match="'a' is the name of columns 0, 2; give its number"):
        find_column("a", ("a", "b", "a"))


def test_gaussian_tau_x_takes_names():
    x = pd.DataFrame(RNG.standard_normal((300, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 2]]), columns=list("abc"))
    expected = tau_x_gaussian(x.mean().to_numpy(), x.cov().to_numpy(), 0, 2)
    assert tau_x_gaussian(x.mean(), x.cov(), "a", "c") == expected > 0
    assert tau_x_gaussian(x.mean().to_numpy(), x.cov().to_numpy(), "a", "c", names=list("abc")) == expected


def test_numbers_are_left_as_they_are():
    for index in (2, np.int64(2), [0, 1], np.array([0, 1]), None, 1.5):
        assert as_index(index, NAMES) is index
    pairs = np.array([[0, 1]])
    assert as_pairs(pairs, None) is pairs
    assert as_pairs([], NAMES) == []
    assert column_names(X) is None and column_names(PackedMasks.from_bool(X)) is None
    assert names_of(FRAME, None) == NAMES and names_of(pd.DataFrame(X), None) == ("0", "1", "2", "3")
