import numpy as np
import pytest

from datamodels_inf.prediction.levels import best_weights
from datamodels_inf.prediction.mixture import ScaleMixture
from datamodels_inf.prediction.outlook import Outlook

MIXTURE = ScaleMixture(np.array([0.0, 1.0, 4.0]), np.array([0.6, 0.2, 0.2]))
Z = np.arange(0.0, 9.0, 0.5)
COUNT = np.rint(1000.0 * np.exp(-Z / 1.5)).astype(np.int64) + 1
OUTLOOK = Outlook(Z, np.linspace(0.5, 1.5, len(Z)), MIXTURE)
U = 1e-3


def expected(weight):
    return float(COUNT @ OUTLOOK.chance(np.minimum(1.0, weight * U)))


@pytest.mark.parametrize("least", (1e-6, 0.5, 0.9))
def test_weights_have_mean_one_and_keep_the_least(least):
    weight = best_weights(OUTLOOK, COUNT, U, least)
    assert COUNT @ weight / COUNT.sum() == pytest.approx(1.0, abs=1e-13)
    assert weight.min() >= least - 1e-15 and weight.max() > 1.0


@pytest.mark.parametrize("least", (1e-6, 0.5))
def test_no_other_weights_expect_more(least):
    best = best_weights(OUTLOOK, COUNT, U, least)
    rng = np.random.default_rng(0)
    assert expected(best) > 1.02 * expected(np.ones(len(Z)))
    for _ in range(200):
        other = np.maximum(least, best * np.exp(0.5 * rng.standard_normal(len(Z))))
        spare = other - least
        other = least + spare * (1.0 - least) * COUNT.sum() / (COUNT @ spare)
        assert expected(other) <= expected(best) * (1.0 + 1e-4)


def test_tests_that_are_sure_need_little_and_hopeless_ones_get_the_least():
    outlook = Outlook(np.array([0.0, 3.0, 30.0]), np.ones(3), MIXTURE)
    weight = best_weights(outlook, np.array([1000, 1000, 1000]), U, 0.1)
    assert weight[0] == pytest.approx(0.1) and weight[2] == pytest.approx(0.1) and weight[1] > 2.5


def test_alike_tests_have_weight_one():
    outlook = Outlook(np.full(3, 2.0), np.ones(3), MIXTURE)
    assert best_weights(outlook, np.array([5, 1, 2]), U, 0.5) == pytest.approx(1.0)
