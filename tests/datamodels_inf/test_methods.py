"""METHODS: each entry gives what its test gives on its own, and its curve is that of its statistic."""

from functools import partial

import numpy as np
import pytest

from datamodels_inf import (
    Datamodel,
    SquaredResidual,
    contrast_many,
    dominance_area,
    paired_swap_test_many,
    prepare_targets,
    swap_test_many,
)
from datamodels_inf.methods import METHODS, PairTests

N, D = 301, 12
SINGLES = np.array([(a, b) for a in range(D) for b in range(a)])[:, :, None]
GROUPS = np.array([[[0, 5], [9, 1]], [[3, 4], [2, 11]]])


@pytest.fixture(scope="module")
def sample():
    """Masks, margins, θ̂, bias; images 0 and 1 have one weight, images 2 and 3 are never told apart."""
    rng = np.random.default_rng(0)
    x = rng.random((N, D)) < 0.5
    x[:, 3] = x[:, 2]
    theta = rng.integers(-3, 4, D) / 4.0
    theta[1] = theta[0]
    return x, x @ theta + rng.standard_normal(N) + 0.5, theta, 0.5


def asked(sample, pairs, **options):
    x, y, theta, bias = sample
    [target] = prepare_targets(x, y[:, None], Datamodel(theta[:, None], np.array([bias]), np.array([np.nan]), "mask"))
    return PairTests([target], pairs, **options)


def on_its_own(name, sample, pairs, tau, order, seed):
    x, y, theta, bias = sample
    score = SquaredResidual(theta, bias)
    swap = partial(swap_test_many, score=score, tau=tau, order=order, rng=seed)
    return {
        "swap": lambda: swap(x, y, pairs),
        "swap-exact": lambda: swap(x, y, pairs, pvalue="exact"),
        "paired": lambda: paired_swap_test_many(x, y, pairs, score=score, tau=tau, rng=seed),
        "contrast": lambda: contrast_many(x, y, pairs, theta=theta, bias=bias),
    }[name]()


@pytest.mark.parametrize("pairs", (SINGLES, GROUPS), ids=("single", "group"))
@pytest.mark.parametrize(("tau", "order", "seed"), [(0.0, "permuted", 0), (0.05, "given", 3)])
@pytest.mark.parametrize("name", METHODS)
def test_an_entry_gives_what_its_test_gives_on_its_own(sample, name, tau, order, seed, pairs):
    outcome = METHODS[name].test(asked(sample, pairs, tau=tau, order=order, seed=seed, threads=2))
    expected = on_its_own(name, sample, pairs, tau, order, seed)
    np.testing.assert_array_equal(outcome.statistic, expected.statistic)
    np.testing.assert_array_equal(outcome.pvalue, expected.pvalue)
    assert outcome.informative.shape == (len(pairs),)


@pytest.mark.parametrize("name", METHODS)
def test_pairs_that_no_mask_or_no_weight_tells_apart(sample, name):
    tests = asked(sample, np.array([[[2], [3]], [[0], [1]], [[4], [5]]]))
    assert tests.apart.tolist() == [False, True, True]
    assert tests.blind[1]
    sees = METHODS[name].sees_equal_weights or name.startswith("swap")
    assert METHODS[name].test(tests).informative.tolist() == [False, sees, not tests.blind[2] or sees]


@pytest.mark.parametrize("pair", (SINGLES[20], GROUPS[0]), ids=("single", "group"))
@pytest.mark.parametrize("name", METHODS)
def test_the_curve_is_that_of_the_statistic(sample, name, pair):
    """What a curve draws is what the test compares, sample by sample."""
    tests = asked(sample, pair[None], seed=5)
    first, second = METHODS[name].curve.samples(tests)
    statistic = METHODS[name].test(tests).statistic[0]
    if name.startswith("swap"):
        assert ((first > second).mean(), len(first), len(second)) == (pytest.approx(statistic), N // 2, N // 2)
    elif name == "paired":
        np.testing.assert_array_equal(second, -first)
        unchanged = N - len(first)
        assert ((first > 0).sum() + 0.5 * ((first == 0).sum() + unchanged)) / N == pytest.approx(statistic)
    else:
        x, y, theta, bias = sample
        results = contrast_many(x, y, pair[None], theta=theta, bias=bias)
        assert first.mean() - second.mean() == pytest.approx(results.estimate[0])
        positive = (first > 0).sum() + (second < 0).sum() + 0.5 * ((first == 0).sum() + (second == 0).sum())
        assert positive / (len(first) + len(second)) == pytest.approx(statistic)
        assert 0.0 <= dominance_area(first, second) <= 1.0


def test_planners_turn_around(sample):
    """The smallest number of models for an effect finds it, and not one that is much smaller."""
    for method in METHODS.values():
        n = method.planner.models(1.0, 0.5, 0.01, 0.8)
        assert 0.95 <= method.planner.effect(n, 0.5, 0.01, 0.8) <= 1.001, method.name
