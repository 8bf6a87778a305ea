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


def untied_pvalues(n, v):
    """The p-values above the switch of n samples without ties, for values v of |V|."""
    return module.large_sample_tail(n, 2 * np.asarray(v), *module._moments(n, None))


@pytest.mark.parametrize("n", (101, 150, 300, 700))
def test_large_sample_tail_is_the_exact_one(n):
    """Every outcome from p = 1 down to 2^(1 − n). The normal tail is 1.7 times too large at 1e-5 already (n = 101)."""
    law = module._law_of_positive_sum(tuple(range(1, n + 1)))
    v = np.arange(law.size - 1, -1, -2)
    exact = np.minimum(1.0, 2.0 * np.cumsum(law)[: v.size])
    ratio = untied_pvalues(n, v) / exact
    assert ratio.min() >= 1 - 0.65 / n**2
    assert ratio[exact >= 1e-10].max() <= 1 + 46 / n**2
    assert ratio.max() <= 1.1


@pytest.mark.parametrize("n", (101, 1000, 5000, 10**5, 10**7))
def test_large_sample_tail_falls_from_one_to_its_last_outcome(n):
    last = n * (n + 1) // 2
    far = np.sqrt(n**3 / 3) * np.linspace(0, 45, 2000)
    near_the_switches = [np.sqrt(n**3 / 3) * 0.01, n**2 / 12]  # Where w = 0.01 and where nt = SMALL.
    steps = 2 * np.arange(-100, 101)
    v = np.concatenate([steps, far, *(centre + steps for centre in near_the_switches), last + steps])
    v = np.unique(v[(v >= 0) & (v <= last)].astype(np.int64))
    p = untied_pvalues(n, v)
    assert p[0] == 1.0
    assert p[-1] == (pytest.approx(2.0 ** (1 - n), rel=0.1) if n < 1000 else pytest.approx(0, abs=1e-300))
    assert (np.diff(p) <= 0).all()


def tied_ranks(sizes):
    """Doubled midranks of groups of ties of these sizes."""
    stops = np.cumsum(sizes)
    return np.repeat(2 * stops - np.asarray(sizes) + 1, sizes)


@pytest.mark.parametrize("sizes", [
    (2,) * 60, (1,) * 99 + (2,), (3,) * 40, (4,) * 26, (6,) * 18, (11,) * 14, (1,) * 120 + (12,), (1,) * 90 + (30,),
    (6,) + (1,) * 100, (60,) + (1,) * 60, (1, 4) * 25, tuple(range(1, 16)), tuple(range(15, 0, -1)),
])  # fmt: skip
def test_ties_never_make_the_tail_too_small(sizes):
    """Every outcome above 1e-27, and nearly those below; close to the exact tail if nearly nothing is tied."""
    ranks = tied_ranks(sizes)
    law = module._law_of_positive_sum(tuple(ranks.tolist()))
    v = np.arange(law.size - 1, -1, -2)
    possible = law[: v.size] > 0
    exact = np.minimum(1.0, 2.0 * np.cumsum(law)[: v.size])
    squares, fourths, half_step = module._moments(ranks.size, ranks)
    ratio = module.large_sample_tail(ranks.size, v, squares, fourths, half_step) / exact
    assert ratio[possible & (exact > 1e-27)].min() >= 0.998
    assert ratio[possible].min() > 0.8
    if half_step == 1.0 and squares > 0.999 * module._moments(ranks.size, None)[0]:
        assert ratio[possible & (exact > 1e-10)].max() < 1.05


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
    ranks = tied_ranks(sizes)
    values, weights = law_of_groups(zip(sizes, ranks[np.cumsum(sizes) - 1], strict=True))
    p = module.large_sample_tail(len(ranks), np.round(2 * np.abs(values)), *module._moments(len(ranks), ranks))
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
