"""Monte-Carlo size of every variant of the tests under laws of the null, most of them on its boundary.

The check fails when the rejections of `REPS` data sets are more than a test of that level can give: a binomial count
beyond its 1 − 1e-6 quantile. That it can fail is shown on broken variants and on laws just outside the null.
"""

from functools import partial

import numpy as np
import pytest
from long_runs import times
from naive import broken_contrast_pvalue, broken_pvalue
from scipy.stats import binom

from datamodels_inf import SquaredResidual, contrast, contrast_many, paired_swap_test, swap_test
from datamodels_inf.power import paired_power, swap_power
from datamodels_inf.pvalues import binomial_pvalue

REPS = times(1_500, 10_000)
N = 40
ALPHA = 0.1
TAU = 0.2
SINGLE, GROUP = (0, 1), ([0, 1], [2, 3])


def rejections(pvalue_of, law, reps=REPS, seed=0):
    """How many of `reps` data sets are rejected at level ALPHA."""
    rng = np.random.default_rng(seed)
    return sum(pvalue_of(*law(rng), rng=int(rng.integers(2**31))) <= ALPHA for _ in range(reps))


def keeps_its_level(count, reps=REPS):
    return count <= binom.ppf(1 - 1e-6, reps, ALPHA)


# Laws of the null with τ = 0: (X, Y) and (X_swap, Y) have one law. Each returns x, y, score.


def gaussian(rng):
    x = rng.standard_normal((N, 5))
    y = x[:, :4].sum(axis=1) + x[:, 4] ** 2 + rng.standard_normal(N)
    return x, y, SquaredResidual([1.0, -0.5, 0.3, 2.0, 0.0])


def masks(rng):
    """Fixed-size masks with coarse responses and weights: ties everywhere."""
    x = rng.random((N, 5)).argsort(axis=1) < 2
    y = 0.5 * (x[:, :4].sum(axis=1) + rng.integers(0, 2, N))
    return x, y, SquaredResidual([0.5, 0.0, 0.5, 1.0, 0.0])


def decimals(rng):
    """Ties up to rounding (0.1 + 0.2 ≠ 0.3), in real features: the way a score is computed must not decide them."""
    x = rng.choice((0.1, 0.2, 0.3), (N, 5))
    y = np.round(x[:, :4].sum(axis=1) + rng.choice((0.0, 0.1), N), 12)
    return x, y, SquaredResidual([0.3, 0.1, 0.2, 0.1, 0.7])


# Laws with E[d_TV] = τ exactly. s is +1 or −1 and changes sign with the swap.


def sign_of_gaussian(rng, groups):
    x = rng.standard_normal((N, 4))
    return x, np.sign(x[:, 0] - x[:, 1] if not groups else x[:, :2].sum(axis=1) - x[:, 2:].sum(axis=1))


def sign_of_masks(rng, groups):
    s = rng.choice((-1, 1), N)
    x = np.column_stack([s > 0, s < 0, rng.random((N, 2)) < 0.5] if not groups else [s > 0, s > 0, s < 0, s < 0])
    return x, s


def signed_score(groups):
    def score(x, y):
        x = x.astype(float)
        return y * np.sign(x[:, 0] - x[:, 1] if not groups else x[:, :2].sum(axis=1) - x[:, 2:].sum(axis=1))

    return score


def boundary_unpaired(rng, signs, groups, tau=TAU):
    """y = s with probability τ, else 0; T = s·y. π = ½ + τ − τ²/2, as far from ½ as a distance of τ allows."""
    x, s = signs(rng, groups)
    return x, np.where(rng.random(N) < tau, s, 0.0), signed_score(groups)


def boundary_paired(rng, signs, groups, tau=TAU):
    """y = s with probability ½ + τ/2, else −s; T = s·y: P(D > 0) − P(D < 0) = τ, the tight case."""
    x, s = signs(rng, groups)
    return x, np.where(rng.random(N) < 0.5 + tau / 2, s, -s), signed_score(groups)


def boundary_paired_with_ties(rng, signs, groups, tau=TAU):
    """As above for a quarter of the samples at 4τ, and a tie for the rest: E[d_TV] = τ."""
    x, y, score = boundary_paired(rng, signs, groups, 4 * tau)
    return x, np.where(rng.random(N) < 0.25, y, 0.0), score


NULLS = {"gaussian": gaussian, "masks": masks, "decimals": decimals}
SIGNS = {"gaussian": sign_of_gaussian, "masks": sign_of_masks}
VARIANTS = [
    *((swap_test, p) for p in ("hoeffding", "exact")),
    *((paired_swap_test, p) for p in ("hoeffding", "exact", "signed-rank")),
]


def runner(test, pvalue, pair, tau=0.0):
    def pvalue_of(x, y, score, rng):
        return test(x, y, *pair, score=score, pvalue=pvalue, tau=tau, rng=rng).pvalue

    return pvalue_of


@pytest.mark.parametrize("pair", (SINGLE, GROUP), ids=("single", "group"))
@pytest.mark.parametrize("law", NULLS)
@pytest.mark.parametrize(("test", "pvalue"), VARIANTS)
def test_size_with_tau_zero(test, pvalue, law, pair):
    assert keeps_its_level(rejections(runner(test, pvalue, pair), NULLS[law]))


@pytest.mark.parametrize("groups", (False, True), ids=("single", "group"))
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("pvalue", ("hoeffding", "exact"))
@pytest.mark.parametrize(("test", "law"), (
    (swap_test, boundary_unpaired), (paired_swap_test, boundary_paired), (paired_swap_test, boundary_paired_with_ties)
))  # fmt: skip
def test_size_on_the_boundary_of_tau(test, law, pvalue, signs, groups):
    on_boundary = partial(law, signs=SIGNS[signs], groups=groups)
    pair = GROUP if groups else SINGLE
    assert keeps_its_level(rejections(runner(test, pvalue, pair, tau=TAU), on_boundary))


@pytest.mark.parametrize("law", ("masks", "gaussian"))
def test_size_of_the_contrast(law):
    def pvalue_of(x, y, score, rng):
        x = x if law == "masks" else x > 0
        return contrast(x, y, 0, 1, theta=score.theta).pvalue

    assert keeps_its_level(rejections(pvalue_of, NULLS[law]))


def large_masks(rng, coarse):
    """300 masks, two of five images each: about 180 hold one image of a pair, more than the exact law is taken for."""
    x = rng.random((300, 5)).argsort(axis=1) < 2
    noise = rng.integers(0, 2, 300) / 2 if coarse else rng.standard_normal(300) * (1 + x[:, 4])
    return x, x[:, :4].sum(axis=1) / 2 + noise


@pytest.mark.parametrize("coarse", (True, False), ids=("ties", "no ties"))
def test_size_of_many_contrasts_of_large_samples(coarse):
    """i and j count alike and θ̂ says otherwise: 0.1 and 2 for one pair, 0.1 and −0.7 for the other."""
    theta, counts = np.array([0.1, 2.0, 0.1, -0.7, 1.0]), np.zeros(2, int)
    rng = np.random.default_rng(0)
    for _ in range(REPS):
        results = contrast_many(*large_masks(rng, coarse), [(0, 1), (2, 3)], theta=theta)
        assert results.n_informative.min() > 100
        counts += results.pvalue <= ALPHA
    assert keeps_its_level(counts.max())
    if not coarse:
        assert counts.min() > 0.95 * ALPHA * REPS - 5 * np.sqrt(REPS * ALPHA)


@pytest.mark.parametrize("law", (masks, gaussian))
def test_exact_tests_are_not_needlessly_conservative(law):
    """The attained level agrees with the exact one: too few rejections would be a mistake as well."""
    count = rejections(runner(swap_test, "exact", SINGLE), law)
    exact = float(swap_power(0.5, N, ALPHA, pvalue="exact"))
    assert abs(count - REPS * exact) < 5 * np.sqrt(REPS * exact * (1 - exact))
    if law is gaussian:
        count = rejections(runner(paired_swap_test, "exact", SINGLE), law)
        exact = float(paired_power(0.5, N, ALPHA))
        assert abs(count - REPS * exact) < 5 * np.sqrt(REPS * exact * (1 - exact))


def test_paired_bound_is_attained():
    """On that law U is binomial at the edge of the null, so the rate is that of the binomial tail itself."""
    law = partial(boundary_paired, signs=sign_of_masks, groups=False)
    count = rejections(runner(paired_swap_test, "exact", SINGLE, tau=TAU), law)
    k = np.arange(N + 1)
    exact = binom.pmf(k, N, 0.5 + TAU / 2)[binomial_pvalue(k, N, TAU / 2) <= ALPHA].sum()
    assert abs(count - REPS * exact) < 5 * np.sqrt(REPS * exact * (1 - exact))


# The check itself must be able to fail.


def test_check_catches_ties_that_always_win():
    def pvalue_of(x, y, score, rng):
        return broken_pvalue(x, y, *SINGLE, score, 0.0)

    assert not keeps_its_level(rejections(pvalue_of, masks, reps=1000), reps=1000)


def test_check_catches_residuals_in_which_i_and_j_were_not_left_out():
    def pvalue_of(x, y, rng):
        return broken_contrast_pvalue(x, y, 0, 1, np.array([0.1, 2.0, 0.1, -0.7, 1.0]))

    assert not keeps_its_level(rejections(pvalue_of, partial(large_masks, coarse=False), reps=500), reps=500)


def test_check_catches_a_tau_that_is_declared_too_small():
    law = partial(boundary_unpaired, signs=sign_of_masks, groups=False)
    assert not keeps_its_level(rejections(runner(swap_test, "exact", SINGLE, tau=TAU / 2), law))
    law = partial(boundary_paired, signs=sign_of_masks, groups=False)
    assert not keeps_its_level(rejections(runner(paired_swap_test, "exact", SINGLE, tau=TAU / 2), law))


def test_check_catches_leakage():
    """θ̂ fitted on the tested rows makes the residuals smaller before the swap than after it."""

    def pvalue_of(x, y, score, rng):
        fitted = np.linalg.lstsq(x, y, rcond=None)[0]
        return paired_swap_test(x, y, 0, 1, score=SquaredResidual(fitted)).pvalue

    def law(rng):
        x = rng.standard_normal((N, 15))
        return x, x.sum(axis=1) + rng.standard_normal(N), None

    assert not keeps_its_level(rejections(pvalue_of, law, reps=2000), reps=2000)
