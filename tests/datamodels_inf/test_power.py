"""Power: closed forms against simulation, exact power against enumeration."""

import numpy as np
import pytest
from naive import binomial_pmf
from scipy.stats import norm

from datamodels_inf import dominance_area, linear_gap, mixture_gap, paired_power, sufficient_gap, swap_power
from datamodels_inf.power import linear_paired_gap, mixture_paired_gap, printed_gap, unpaired_win_probability
from datamodels_inf.pvalues import binomial_pvalue, hoeffding_pvalue

TRUTH, FITTED = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, 2.5, -1.5, 1.0])
DRAWS = 400_000
ERROR = 5 * 0.5 / np.sqrt(DRAWS)


def linear_residuals(rng):
    x = rng.standard_normal((DRAWS, 4))
    y = x @ TRUTH + 0.7 * rng.standard_normal(DRAWS)
    swapped = x[:, [1, 0, 2, 3]]
    return np.abs(y - x @ FITTED), np.abs(y - swapped @ FITTED)


def test_dominance_area_equals_all_comparisons():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, 70).astype(float), rng.integers(2, 9, 50).astype(float)
    comparisons = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    assert dominance_area(a, b) == pytest.approx(comparisons.mean())


def test_linear_closed_forms_agree_with_simulation():
    t, swapped = linear_residuals(np.random.default_rng(1))
    _, other = linear_residuals(np.random.default_rng(2))
    gap = linear_gap(TRUTH, FITTED, 0, 1, noise=0.7)
    assert gap > 10 * ERROR
    assert abs(abs(dominance_area(t, other) - 0.5) - gap) < ERROR
    paired = linear_paired_gap(TRUTH, FITTED, 0, 1, noise=0.7)
    assert paired > 10 * ERROR
    assert abs(abs((t > swapped).mean() - 0.5) - paired) < ERROR


def test_mixture_closed_forms_agree_with_simulation():
    rng = np.random.default_rng(3)
    mu, theta = np.array([0.2, 0.9, -0.4, 0.1]), FITTED
    y = rng.choice((-1.0, 1.0), (2, DRAWS))
    x = rng.standard_normal((2, DRAWS, 4)) + y[..., None] * mu
    t = y[0] * (x[0] @ theta)
    swapped = y[1] * (x[1][:, [1, 0, 2, 3]] @ theta)
    assert abs(abs(dominance_area(t, swapped) - 0.5) - mixture_gap(theta, mu, 0, 1)) < ERROR
    own = y[0] * (x[0][:, [1, 0, 2, 3]] @ theta)
    assert abs(abs((t > own).mean() - 0.5) - mixture_paired_gap(mu, 0, 1)) < ERROR


def test_gaps_are_zero_without_contrast_and_take_many_thetas():
    thetas = np.stack([FITTED, FITTED[[1, 0, 2, 3]], np.zeros(4)])
    for gaps in (
        linear_gap(TRUTH, thetas, 0, 1),
        linear_paired_gap(TRUTH, thetas, 0, 1),
        mixture_gap(thetas, TRUTH, 0, 1),
    ):
        assert gaps.shape == (3,)
        assert gaps[2] == 0.0
        assert gaps[0] > 0.0
    assert linear_gap(TRUTH, thetas, 0, 1)[0] == linear_gap(TRUTH, FITTED, 0, 1)
    assert linear_gap(TRUTH, TRUTH, 0, 0 + 1) > 0.0


@pytest.mark.parametrize("n", (7, 40, 101))
@pytest.mark.parametrize("pvalue", ("hoeffding", "exact"))
@pytest.mark.parametrize("tau", (0.0, 0.1))
def test_exact_power_equals_enumeration(n, pvalue, tau):
    h = n // 2
    k = np.arange(h + 1)
    p = hoeffding_pvalue(k / h, h, tau) if pvalue == "hoeffding" else binomial_pvalue(k, h, tau)
    for pi in (0.0, 0.3, 0.5, 0.71, 1.0):
        expected = np.array(binomial_pmf(h, pi))[p <= 0.1].sum()
        assert swap_power(pi, n, 0.1, pvalue=pvalue, tau=tau) == pytest.approx(expected)


@pytest.mark.parametrize("informative", (0.5, 1.0))
def test_paired_power_equals_enumeration(informative):
    n, pi, expected = 30, 0.75, 0.0
    for size, weight in enumerate(binomial_pmf(n, informative)):
        k = np.arange(size + 1)
        expected += weight * np.array(binomial_pmf(size, pi))[binomial_pvalue(k, size, 0.0) <= 0.05].sum()
    assert paired_power(pi, n, 0.05, informative=informative) == pytest.approx(expected)
    many = paired_power([0.5, 0.75], n, 0.05, informative=informative)
    assert many.shape == (2,)
    assert many[1] == pytest.approx(expected)


@pytest.mark.parametrize("n", (100, 1000, 10_000))
@pytest.mark.parametrize("beta", (0.05, 0.1, 0.3))
def test_corrected_condition_holds_and_the_printed_one_fails(n, beta):
    good, printed = sufficient_gap(n, alpha=0.1, beta=beta), printed_gap(n, alpha=0.1, beta=beta)
    if 0.5 + good <= 1:
        assert swap_power(0.5 + good, n, 0.1) >= 1 - beta
    if n * beta**2 >= 10:  # Else the printed term is large by accident.
        assert swap_power(0.5 + printed, n, 0.1) < 1 - beta


def test_the_numbers_of_the_erratum():
    """At n = 1000, β = 0.1 the printed term is 9e-5, the right one 0.055."""
    base = sufficient_gap(1000, alpha=0.1, beta=0.1) - np.sqrt(np.log(20) / 1000)
    assert printed_gap(1000, alpha=0.1, beta=0.1) - base == pytest.approx(9e-5, rel=0.02)
    assert np.sqrt(np.log(20) / 1000) == pytest.approx(0.055, abs=5e-4)


def test_tau_and_tau_x_are_both_counted():
    assert sufficient_gap(1000, alpha=0.1, beta=0.1, tau=0.1, tau_x=0.2) == pytest.approx(
        0.3 + sufficient_gap(1000, alpha=0.1, beta=0.1)
    )
    both = swap_power(0.8, 200, 0.1, tau=0.1, tau_x=0.1)
    assert both == swap_power(0.8, 200, 0.1, tau=0.2) < swap_power(0.8, 200, 0.1, tau=0.1)


def test_unpaired_probability_agrees_with_simulation():
    rng = np.random.default_rng(5)
    x = rng.random((2, DRAWS, 2)) < 0.5
    r = rng.standard_normal((2, DRAWS))
    shifted = r[1] - (x[1][:, 1].astype(float) - x[1][:, 0]) * 1.2
    assert abs(dominance_area(r[0] ** 2, shifted**2) - unpaired_win_probability(1.2, 0.5)) < ERROR


def test_methods_table_of_power():
    """The table at n = 10,000, level 1e-4, contrasts 0.2 and 0.8, from the exact power."""
    q = 0.5
    paired = {c: paired_power(norm.cdf(-c / 2), 10_000, 1e-4, informative=q) for c in (0.1, 0.2)}
    assert paired[0.1] == pytest.approx(0.12, abs=0.07)
    assert paired[0.2] == pytest.approx(0.98, abs=0.03)
    assert swap_power(unpaired_win_probability(0.8, q), 10_000, 1e-4) == pytest.approx(0.96, abs=0.03)
    assert swap_power(unpaired_win_probability(0.4, q), 10_000, 1e-4) < 0.005


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: swap_power(1.5, 100, 0.1), "`pi` must lie between 0 and 1"),
    (lambda: swap_power(0.5, 1, 0.1), "`n` must be a whole number of at least 2"),
    (lambda: swap_power(0.5, 100.5, 0.1), "`n` must be a whole number"),
    (lambda: swap_power(0.5, 100, 0.1, pvalue="best"), "`pvalue` must be one of"),
    (lambda: paired_power(0.5, 100, 0.1, informative=0.0), "`informative` must lie"),
    (lambda: paired_power(0.5, 100, 0.1, informative=0.5, pvalue="hoeffding"), "`pvalue` must be 'exact'"),
    (lambda: sufficient_gap(100, alpha=0.1, beta=0.0), "`beta` must lie"),
    (lambda: dominance_area([], [1.0]), "`untouched` and `swapped` must not be empty"),
    (lambda: linear_gap([1.0, 2.0], [1.0], 0, 1), "`theta_hat` must hold finite vectors of length 2"),
])  # fmt: skip
def test_bad_input(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
