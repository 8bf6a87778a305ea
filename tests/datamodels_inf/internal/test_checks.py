"""Bad input gets one sentence that names the argument."""

import numpy as np
import pytest
from swap_samples import GOOD, THETA, X, Y

from datamodels_inf import SquaredResidual, paired_swap_test, paired_swap_test_many, swap_test, swap_test_many
from datamodels_inf.internal.checks import check_integer, check_pair, check_pairs, seed_of


def with_value(array, value):
    copy = array.copy()
    copy.flat[5] = value
    return copy


BAD = {
    "x one-dimensional": ({"x": Y}, r"`x` must be a two-dimensional"),
    "x text": ({"x": np.array([["a", "b"]])}, r"`x` must hold real numbers"),
    "x NaN": ({"x": with_value(X, np.nan)}, r"`x` must be finite"),
    "x infinite": ({"x": with_value(X, np.inf)}, r"`x` must be finite"),
    "y NaN": ({"y": with_value(Y, np.nan)}, r"`y` must be finite"),
    "y infinite": ({"y": with_value(Y, -np.inf)}, r"`y` must be finite"),
    "y too short": ({"y": Y[:-1]}, r"`y` must have shape \(61,\)"),
    "y a matrix": ({"y": Y[:, None]}, r"`y` must have shape"),
    "y complex": ({"y": Y * 1j}, r"`y` must hold real numbers"),
    "one row": ({"x": X[:1], "y": Y[:1]}, r"`x` must have at least 2 rows"),
    "i equals j": ({"j": 0}, r"`i` and `j` must differ"),
    "i too large": ({"i": 12}, r"`i` and `j` must be column numbers from 0 to 11"),
    "j negative": ({"j": -1}, r"`i` and `j` must be column numbers"),
    "i a float": ({"i": 0.5}, r"`i` must be an int"),
    "i empty": ({"i": [], "j": []}, r"`i` must be an int or a non-empty"),
    "unequal groups": ({"i": [0, 1], "j": [2]}, r"`i` and `j` must be of equal length"),
    "groups overlap": ({"i": [0, 1], "j": [2, 0]}, r"`i` and `j` must differ"),
    "group repeats": ({"i": [0, 0], "j": [2, 3]}, r"`i` and `j` must differ"),
    "tau negative": ({"tau": -0.1}, r"`tau` must be a finite number of at least 0"),
    "tau_x NaN": ({"tau_x": np.nan}, r"`tau_x` must be a finite number"),
    "pvalue unknown": ({"pvalue": "normal"}, r"`pvalue` must be one of .*'normal'"),
    "rng a string": ({"rng": "seed"}, r"`rng` must be None, a non-negative int"),
    "theta too short": ({"score": SquaredResidual(THETA[:-1])}, r"`theta` must have one entry per column"),
    "score too short": ({"score": lambda x, y: y[:-1]}, r"`score` must return shape"),
    "score a matrix": ({"score": lambda x, y: x}, r"`score` must return shape"),
    "score NaN": ({"score": lambda x, y: y * np.nan}, r"`score` must return finite"),
    "score overflows": ({"score": SquaredResidual(THETA * 1e200)}, r"`score` must return finite"),
    "score of the other half": (
        {"score": lambda x, y: y if x[0, 0] == X[0, 0] else y[:-1]},
        r"`score` must return shape",
    ),
    "score overflows as float64": (
        {"score": lambda x, y: np.full(len(y), np.longdouble("1e4000"))},
        r"`score` must return finite",
    ),
    "score None": ({"score": None}, r"`score` must be a callable"),
    "tau text": ({"tau": "0.1"}, r"`tau` must be a number"),
    "tau a list": ({"tau": [0.1]}, r"`tau` must be a number"),
    "x ragged": ({"x": [[1, 2], [3]]}, r"`x` must be an array of real numbers"),
    "score text": ({"score": lambda x, y: np.array(["a"] * len(y))}, r"`score` must return finite"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("test", (swap_test, paired_swap_test))
def test_bad_input_gets_one_sentence(test, case):
    change, sentence = BAD[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        test(**{**GOOD, "rng": 0, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("test", (swap_test_many, paired_swap_test_many))
@pytest.mark.parametrize("pairs", ([[0, 0]], [[0, 12]], [[0, 1, 2]], [0, 1], [[0.5, 1.0]], [[[0, 1], [1, 2]]]))
def test_bad_pairs_get_one_sentence(test, pairs):
    with pytest.raises(ValueError, match="`pairs` must"):
        test(X, Y, pairs, score=SquaredResidual(THETA))


@pytest.mark.parametrize("threads", (0, 1.5, "2", None))
def test_bad_threads(threads):
    with pytest.raises(ValueError, match="`threads` must be a whole number of at least 1"):
        swap_test_many(X, Y, [(0, 1)], score=SquaredResidual(THETA), threads=threads)


def test_pairs_and_groups_become_one_shape():
    np.testing.assert_array_equal(check_pairs([(3, 1), (0, 2)], 4), [[[3], [1]], [[0], [2]]])
    assert check_pairs(np.zeros((5, 2, 3), int) + np.arange(6).reshape(2, 3), 6).shape == (5, 2, 3)
    assert check_pairs([], 4).shape == (0, 2, 1)
    np.testing.assert_array_equal(check_pair(np.int8(3), 1, 4), [[[3], [1]]])
    np.testing.assert_array_equal(check_pair([0, 5], (2, 1), 6), [[[0, 5], [2, 1]]])


def test_seeds():
    """Of a generator the next draw, so that two calls with it differ and two equal generators agree."""
    assert (seed_of(None), seed_of(7), seed_of(2**64 + 5)) == (0, 7, 2**64 % 2**63 + 5)
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    first, second = seed_of(a), seed_of(a)
    assert first != second
    assert (seed_of(b), seed_of(b)) == (first, second)
    for bad in (-1, 1.5, True, "7"):
        with pytest.raises(ValueError, match="`rng` must be None, a non-negative int"):
            seed_of(bad)


@pytest.mark.parametrize(("value", "ok"), [(3, True), (np.int16(4), True), (2, False), (3.0, False), (True, False)])
def test_whole_numbers(value, ok):
    if ok:
        assert check_integer("k", value, 3) == value
    else:
        with pytest.raises(ValueError, match="`k` must be a whole number of at least 3"):
            check_integer("k", value, 3)
