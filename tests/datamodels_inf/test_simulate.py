"""The paper's experiments: rates against exact theory and against the numbers that the paper prints."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from long_runs import times

from datamodels_inf.simulate import PAIRS, PRINTED, SETTINGS, VARIANTS, Setting, draw, run

REPS = times(400, 1000)


@pytest.fixture(scope="module")
def power():
    return {(r.method, r.setting.sigma): r for r in run("power", reps=REPS, threads=2)}


@pytest.fixture(scope="module")
def size():
    return {(r.method, r.alpha): r for r in run("size", reps=REPS, threads=2)}


def agrees(rates, sigmas=4.5):
    """Every one of the 45 rates lies within Monte-Carlo error of exact theory."""
    error = np.sqrt(np.maximum(rates.theory * (1 - rates.theory), 1e-4) / rates.reps)
    return (np.abs(rates.rate - rates.theory) < sigmas * error).all()


@pytest.mark.parametrize("method", [m for m in VARIANTS if m != "paired-signed-rank"])
def test_rates_agree_with_exact_theory(power, size, method):
    for sigma in (1.0, 2.0, 3.0):
        assert agrees(power[method, sigma])
    for alpha in (0.1, 0.15, 0.2):
        assert agrees(size[method, alpha])


def test_the_check_of_rates_can_fail(power, size):
    """Rates of one test against the theory of another, of one level or σ against that of the next."""
    exact = [m for m in VARIANTS if m != "paired-signed-rank"]
    for a, b in itertools.permutations(exact, 2):
        assert not agrees(replace(power[a, 1.0], theory=power[b, 1.0].theory)), (a, b)
    for method in exact:
        assert not agrees(replace(power[method, 1.0], theory=power[method, 2.0].theory))
        if method in ("swap-exact", "paired"):  # Hoeffding's bound leaves the others little size at any level.
            assert not agrees(replace(size[method, 0.1], theory=size[method, 0.2].theory))


@pytest.mark.parametrize(("sigma", "pair"), PRINTED)
def test_printed_power(power, sigma, pair):
    """The paper's 1000 repetitions and ours each have a standard error of √(p(1−p)/1000)."""
    rates = power["swap", sigma]
    ours, printed = rates.rate[rates.of(*pair)], PRINTED[sigma, pair]
    error = np.sqrt(printed * (1 - printed) / 1000 + ours * (1 - ours) / REPS)
    assert abs(ours - printed) < 3.5 * error
    theory = rates.theory[rates.of(*pair)]
    assert abs(theory - printed) < 3.5 * error


def test_size_of_the_papers_rule_and_of_the_others(size):
    for alpha in (0.1, 0.15, 0.2):
        assert (size["swap", alpha].rate < alpha).all()
        for method in VARIANTS:
            assert (size[method, alpha].rate < alpha + 4.5 * np.sqrt(alpha * (1 - alpha) / REPS)).all()


def test_equal_pairs_stay_below_the_level_and_better_tests_find_more(power):
    equal = [power["swap", 1.0].of(k, k + 1) for k in range(0, 10, 2)]
    for sigma in (1.0, 2.0, 3.0):
        assert (power["swap", sigma].rate[equal] < 0.1).all()
        means = [power[m, sigma].rate.mean() for m in ("swap", "swap-exact", "paired", "paired-signed-rank")]
        assert means == sorted(means)


def test_mixture_agrees_with_theory_and_rises_with_contrast():
    rates = {(r.method, r.setting.n): r for r in run("mixture", reps=times(15, 40), threads=2)}
    for method in ("swap", "swap-exact", "paired", "paired-hoeffding"):
        for n in (5_000, 20_000, 50_000):
            assert agrees(rates[method, n], sigmas=5)
    contrast = PAIRS[:, 1] - PAIRS[:, 0]
    for n in (5_000, 20_000, 50_000):
        theory = rates["swap", n].theory
        by_contrast = [theory[contrast == c].mean() for c in (1, 5, 9)]
        assert by_contrast == sorted(by_contrast)


def test_threads_and_other_repetitions_change_nothing(monkeypatch):
    one, two = (run("power", reps=3, seed=7, threads=t) for t in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.rate, b.rate)
        np.testing.assert_array_equal(a.theory, b.theory)


def test_laws():
    rng = np.random.default_rng(0)
    x, y, _ = draw(Setting("size", 200_000, (0.1,)), rng)
    assert y.mean() == pytest.approx(20, abs=0.2)  # E[xᵀSx] = tr S = 20.
    x, y, score = draw(SETTINGS["power"][0], rng)
    assert x.shape == (1000, 10)
    assert np.std(y - x @ np.repeat(np.arange(1, 6), 2)) == pytest.approx(1, abs=0.1)
    assert score.theta.shape == (10,)
    x, y, _ = draw(Setting("mixture", 200_000, (0.1,)), rng)
    mu = np.arange(1, 11) / np.linalg.norm(np.arange(1, 11))
    np.testing.assert_allclose((x * y[:, None]).mean(axis=0), mu, atol=0.02)
    assert sorted(np.unique(y)) == [-1, 1]


def test_bad_reps():
    with pytest.raises(ValueError, match="`reps` must be a whole number of at least 1"):
        run("size", reps=0)
