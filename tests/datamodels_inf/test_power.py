"""Power: closed forms against simulation, exact power against enumeration, plans against simulated data."""

import math

import numpy as np
import pytest
from naive import binomial_pmf
from scipy.stats import norm

from datamodels_inf import (
    SquaredResidual,
    contrast,
    dominance_area,
    linear_gap,
    mixture_gap,
    paired_power,
    paired_swap_test,
    sufficient_gap,
    swap_power,
    swap_test,
)
from datamodels_inf.methods import METHODS
from datamodels_inf.planning import Detectable, detectable_effect, plan
from datamodels_inf.power import (
    linear_paired_gap,
    mixture_paired_gap,
    printed_gap,
    unpaired_win_probability,
)
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
    """METHOD 10: at n = 1000, β = 0.1 the printed term is 9e-5, the right one 0.055."""
    base = sufficient_gap(1000, alpha=0.1, beta=0.1) - np.sqrt(np.log(20) / 1000)
    assert printed_gap(1000, alpha=0.1, beta=0.1) - base == pytest.approx(9e-5, rel=0.02)
    assert np.sqrt(np.log(20) / 1000) == pytest.approx(0.055, abs=5e-4)


def mask_data(rng, n, effect, d=20):
    x = rng.random((n, d)) < 0.5
    theta = rng.standard_normal(d) / 4
    theta[0], theta[1] = 0.1 + effect / 2, 0.1 - effect / 2
    return x, x @ theta + rng.standard_normal(n), theta


def simulated_power(pvalue_of, n, effect, alpha, reps):
    rng = np.random.default_rng(n)
    return np.mean([pvalue_of(*mask_data(rng, n, effect)) <= alpha for _ in range(reps)])


def test_plan_keeps_its_promise_on_simulated_models():
    """With the planned number of models, each test finds the effect about as often as planned."""
    reps, alpha = 400, 0.05
    strong = plan(effect=1.5, alpha=alpha, power=0.8)
    weak = plan(effect=0.4, alpha=alpha, power=0.8)
    tests = {
        strong.swap: (1.5, lambda x, y, t: swap_test(x, y, 0, 1, score=SquaredResidual(t)).pvalue),
        strong.swap_exact: (
            1.5,
            lambda x, y, t: swap_test(x, y, 0, 1, score=SquaredResidual(t), pvalue="exact").pvalue,
        ),
        weak.paired: (0.4, lambda x, y, t: paired_swap_test(x, y, 0, 1, score=SquaredResidual(t)).pvalue),
        weak.contrast: (0.4, lambda x, y, t: contrast(x, y, 0, 1, theta=t).pvalue),
    }
    for n, (effect, pvalue_of) in tests.items():
        rate = simulated_power(pvalue_of, n, effect, alpha, reps)
        assert abs(rate - 0.8) < 5 * np.sqrt(0.8 * 0.2 / reps), (n, rate)


def test_plan_is_the_smallest_for_the_exact_tests():
    p = plan(effect=0.8, alpha=0.01, power=0.9)
    pi = unpaired_win_probability(0.8, 0.5)
    assert swap_power(pi, p.swap, 0.01) >= 0.9 > swap_power(pi, p.swap - 2, 0.01)
    assert swap_power(pi, p.swap_exact, 0.01, pvalue="exact") >= 0.9
    paired = paired_power(norm.cdf(-0.4), p.paired, 0.01, informative=0.5)
    assert 0.9 <= paired < 0.92
    assert p.contrast < p.paired < p.swap_exact < p.swap


def test_plan_scales_with_noise_and_proportion():
    one, same = plan(effect=0.5, alpha=0.01, power=0.8), plan(effect=1.0, noise=2.0, alpha=0.01, power=0.8)
    assert (one.swap, one.paired, one.contrast) == (same.swap, same.paired, same.contrast)
    tenth = plan(effect=0.5, alpha=0.01, power=0.8, proportion=0.1)  # 0.18 of the masks are informative, not 0.5.
    assert tenth.contrast == pytest.approx(one.contrast * 0.5 / 0.18, rel=0.01)
    assert tenth.paired == pytest.approx(one.paired * 0.5 / 0.18, rel=0.05)


def test_plan_knows_what_is_out_of_reach():
    weak = plan(effect=0.003, alpha=1e-4, power=0.8)
    assert weak.swap is None
    assert weak.contrast < 10**8
    assert plan(effect=0.015, alpha=0.05, power=0.8).swap_exact > 10**9


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
    """METHOD 8's table at n = 10,000, level 1e-4, contrasts 0.2 and 0.8, from the exact power."""
    q = 0.5
    paired = {c: paired_power(norm.cdf(-c / 2), 10_000, 1e-4, informative=q) for c in (0.1, 0.2)}
    assert paired[0.1] == pytest.approx(0.12, abs=0.07)
    assert paired[0.2] == pytest.approx(0.98, abs=0.03)
    assert swap_power(unpaired_win_probability(0.8, q), 10_000, 1e-4) == pytest.approx(0.96, abs=0.03)
    assert swap_power(unpaired_win_probability(0.4, q), 10_000, 1e-4) < 0.005


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: plan(effect=0.0, alpha=0.1, power=0.8), "`effect` must be a finite number other than 0"),
    (lambda: plan(effect=1.0, alpha=0.0, power=0.8), "`alpha` must lie"),
    (lambda: plan(effect=1.0, alpha=0.1, power=1.0), "`power` must lie"),
    (lambda: plan(effect=1.0, alpha=0.5, power=0.3), "`power` must be larger than `alpha`"),
    (lambda: plan(effect=1.0, alpha=0.1, power=0.8, noise=0.0), "`noise` must be"),
    (lambda: plan(effect=1.0, alpha=0.1, power=0.8, proportion=1.0), "`proportion` must lie"),
    (lambda: plan(effect=1e-9, alpha=0.1, power=0.8), "`effect` is too small"),
    (lambda: swap_power(1.5, 100, 0.1), "`pi` must lie between 0 and 1"),
    (lambda: swap_power(0.5, 1, 0.1), "`n` must be a whole number of at least 2"),
    (lambda: swap_power(0.5, 100.5, 0.1), "`n` must be a whole number"),
    (lambda: plan(effect="a", alpha=0.1, power=0.8), "`effect` must be a number"),
    (lambda: plan(effect=1e-320, alpha=0.1, power=0.8), "`effect` is too small"),
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


@pytest.mark.parametrize("n", [300, 4000])
@pytest.mark.parametrize("proportion", [0.5, 0.2])
def test_the_detectable_effect_is_the_inverse_of_the_plan(n, proportion):
    settings = {"alpha": 1e-4, "power": 0.8, "noise": 0.3, "proportion": proportion}
    found = detectable_effect(n, **settings)
    for name in ("swap", "swap_exact", "paired", "contrast"):
        effect = getattr(found, name)
        if effect is None:
            continue
        assert getattr(plan(effect=effect, **settings), name) <= 1.02 * n + 2
        assert getattr(plan(effect=0.97 * effect, **settings), name) > 0.98 * n
    assert found.contrast < found.paired < (found.swap_exact or math.inf) <= (found.swap or math.inf)


def test_too_few_models_detect_no_effect_at_all():
    assert detectable_effect(10, alpha=1e-6, power=0.9) == Detectable(dict.fromkeys(METHODS))
    with pytest.raises(ValueError, match="`power` must be larger than `alpha`"):
        detectable_effect(100, alpha=0.5, power=0.4)
    with pytest.raises(ValueError, match="`noise` must be a finite number above 0"):
        detectable_effect(100, alpha=0.1, power=0.4, noise=0.0)
    with pytest.raises(ValueError, match="`n` must be"):
        detectable_effect(1, alpha=0.1, power=0.4)
