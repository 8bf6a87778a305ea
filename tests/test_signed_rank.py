"""The signed-rank p-value against enumeration, scipy, and its own exact law."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, rankdata, wilcoxon

import datamodels_inf.signed_rank as module
from datamodels_inf.signed_rank import signed_rank_pvalue


def enumerated(d):
    """P(|V| ≥ v) over all 2ⁿ signs."""
    d = d[d != 0]
    ranks = rankdata(np.abs(d))
    v = abs((np.sign(d) * ranks).sum())
    values = np.array([abs(np.dot(s, ranks)) for s in product((-1, 1), repeat=len(d))])
    return (values >= v - 1e-9).mean()


@pytest.mark.parametrize("seed", range(30))
def test_equals_enumeration_with_ties_and_zeros(seed):
    rng = np.random.default_rng(seed)
    d = rng.integers(-4, 5, 10).astype(float) if seed % 2 else rng.standard_normal(10)
    p, n = signed_rank_pvalue(d)
    assert n == np.count_nonzero(d)
    assert p == pytest.approx(enumerated(d) if n else 1.0)


@pytest.mark.parametrize("n", (5, 30, 100))
def test_equals_scipy_exact(n):
    d = np.random.default_rng(n).standard_normal(n) + 0.2
    assert signed_rank_pvalue(d)[0] == pytest.approx(wilcoxon(d, method="exact").pvalue)


@pytest.mark.parametrize("n", (101, 150, 300))
@pytest.mark.parametrize("ties", (False, True))
def test_large_sample_tail_is_valid_and_close_to_the_exact_one(n, ties, monkeypatch):
    """Above the switch, the approximation is never below the exact p-value by more than a hair, and close to it."""
    rng = np.random.default_rng(n)
    for shift in np.linspace(0, 0.5, 21):
        d = rng.standard_normal(n) + shift
        d = np.round(d, 1) if ties else d
        approximate = signed_rank_pvalue(d)[0]
        monkeypatch.setattr(module, "EXACT_UP_TO", 10_000)
        exact = signed_rank_pvalue(d)[0]
        monkeypatch.undo()
        assert approximate >= exact * (1 - 2e-3)
        if exact > 1e-4:
            assert approximate <= exact * (1.03 if exact > 0.05 else 1.4)


def law_of_groups(groups):
    """Values of V and their probabilities for groups (size, doubled midrank) of ties: scaled binomials, convolved."""
    values, weights = np.zeros(1), np.ones(1)
    for size, doubled in groups:
        k = np.arange(size + 1)
        values = (values[:, None] + (2 * k - size) * doubled / 2).ravel()
        weights = (weights[:, None] * binom.pmf(k, size, 0.5)).ravel()
        values, inverse = np.unique(values, return_inverse=True)
        weights = np.bincount(inverse, weights)
    return values, weights


@pytest.mark.parametrize(
    "sizes", [(101,), (200,), (1000,), (100, 1), (1, 100), (51, 50), (10, 95), (95, 10), (40, 40, 40), (30,) * 5]
)
def test_few_distinct_values_keep_their_level(sizes):
    """Above the switch, with nearly everything tied: exact size at every level, over all outcomes."""
    stops = np.cumsum(sizes)
    groups = [(size, 2 * stop - size + 1) for size, stop in zip(sizes, stops, strict=True)]
    ranks = np.repeat([doubled for _, doubled in groups], sizes)
    values, weights = law_of_groups(groups)
    p = np.array([float(module.normal_tail(round(2 * abs(v)), *module._moments(len(ranks), ranks))) for v in values])
    for alpha in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5):
        assert weights[p <= alpha].sum() <= alpha * 1.002


def test_agrees_with_scipy_for_thousands():
    d = np.random.default_rng(0).standard_normal(5000) + 0.05
    assert signed_rank_pvalue(d)[0] == pytest.approx(wilcoxon(d).pvalue, rel=0.01)


def test_nothing_informative_gives_one():
    assert signed_rank_pvalue(np.zeros(7)) == (1.0, 0)
    assert signed_rank_pvalue(np.array([0.0, 2.0])) == (1.0, 1)


def test_negating_changes_nothing():
    d = np.random.default_rng(1).standard_normal(333) + 0.1
    assert signed_rank_pvalue(d) == signed_rank_pvalue(-d)
