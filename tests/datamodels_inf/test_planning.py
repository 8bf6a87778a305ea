"""Plans: that they keep their promise on simulated models, and what is out of reach."""

import math

import long_runs
import numpy as np
import pytest
from scipy.stats import norm

from datamodels_inf import SquaredResidual, contrast, paired_power, paired_swap_test, planning, swap_power, swap_test
from datamodels_inf.methods import METHODS
from datamodels_inf.planning import Detectable, detectable_effect, plan
from datamodels_inf.power import unpaired_win_probability


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


def test_plan_knows_what_is_out_of_reach(monkeypatch):
    """The paired test's number, which is not asked for here, takes a sum over 10⁵ sizes at each step."""
    asked = {name: method for name, method in METHODS.items() if name != "paired" or long_runs.LONG}
    monkeypatch.setattr(planning, "METHODS", asked)
    weak = plan(effect=0.003, alpha=1e-4, power=0.8)
    assert weak.swap is None
    assert weak.contrast < 10**8
    assert plan(effect=0.015, alpha=0.05, power=0.8).swap_exact > 10**9


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


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: plan(effect=0.0, alpha=0.1, power=0.8), "`effect` must be a finite number other than 0"),
    (lambda: plan(effect=1.0, alpha=0.0, power=0.8), "`alpha` must lie"),
    (lambda: plan(effect=1.0, alpha=0.1, power=1.0), "`power` must lie"),
    (lambda: plan(effect=1.0, alpha=0.5, power=0.3), "`power` must be larger than `alpha`"),
    (lambda: plan(effect=1.0, alpha=0.1, power=0.8, noise=0.0), "`noise` must be"),
    (lambda: plan(effect=1.0, alpha=0.1, power=0.8, proportion=1.0), "`proportion` must lie"),
    (lambda: plan(effect=1e-9, alpha=0.1, power=0.8), "`effect` is too small"),
    (lambda: plan(effect="a", alpha=0.1, power=0.8), "`effect` must be a number"),
    (lambda: plan(effect=1e-320, alpha=0.1, power=0.8), "`effect` is too small"),
])  # fmt: skip
def test_bad_input(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize("given", ({"alpha": 5e-324}, {"noise": 5e-324}, {"noise": 1e308}, {"proportion": 5e-324}))
def test_what_floating_point_has_no_answer_for_is_refused(given):
    (name,) = given
    settings = {"alpha": 1e-4, "power": 0.8} | given
    with pytest.raises(ValueError, match=f"`{name}` must"):
        plan(effect=0.3, **settings)
    with pytest.raises(ValueError, match=f"`{name}` must"):
        detectable_effect(100, **settings)


def test_more_models_than_anybody_waits_for_are_refused():
    with pytest.raises(ValueError, match="`n` must be at most 100,000,000"):
        detectable_effect(10**12, alpha=1e-4, power=0.8)
