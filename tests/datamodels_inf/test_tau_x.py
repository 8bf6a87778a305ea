"""τ_X: the Gaussian formula against the true distance, and the look at the marginals of real-valued features."""

import numpy as np
import pytest

from datamodels_inf import (
    AbsoluteResidual,
    PackedMasks,
    paired_swap_test,
    paired_swap_test_many,
    swap_test,
    swap_test_many,
    tau_x_gaussian,
)
from datamodels_inf.tau_x import check_marginals


def test_zero_for_exchangeable_gaussians():
    assert tau_x_gaussian(np.zeros(4), np.eye(4) * 3, 0, 3) == 0.0
    equicorrelated = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    assert tau_x_gaussian(np.full(4, 2.0), equicorrelated, [0, 1], [2, 3]) == pytest.approx(0.0, abs=1e-7)


def test_the_formula_term_by_term():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((5, 5))
    cov, mean = a @ a.T + np.eye(5), rng.standard_normal(5)
    p = np.eye(5)[[3, 1, 2, 0, 4]]
    inverse = np.linalg.inv(cov)
    trace = np.trace(-np.eye(5) + p @ inverse @ p @ cov)
    gap = mean - p @ mean
    assert tau_x_gaussian(mean, cov, 0, 3) == pytest.approx(0.5 * np.sqrt(trace + gap @ inverse @ gap))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_the_total_variation(seed):
    """Pinsker: τ_X ≥ d_TV, here by Monte Carlo, E_p[(1 − q/p)⁺]."""
    rng = np.random.default_rng(seed)
    scale = np.array([1.0, 1.3, 0.8])
    mean = np.array([0.2, 0.0, 0.1])
    x = mean + scale * rng.standard_normal((200_000, 3))

    def log_density(z):
        return -0.5 * (((z - mean) / scale) ** 2).sum(axis=1)

    distance = np.maximum(0.0, 1 - np.exp(log_density(x[:, [1, 0, 2]]) - log_density(x))).mean()
    bound = tau_x_gaussian(mean, np.diag(scale**2), 0, 1)
    assert 0.05 < distance <= bound < 2 * distance


@pytest.mark.parametrize(("mean", "cov", "sentence"), [
    ([0.0, np.nan], np.eye(2), "`mean` must be finite"),
    ([0.0, 0.0], np.eye(3), "`cov` must be a finite"),
    ([0.0, 0.0], [[1, 2], [2, 1]], "`cov` must be symmetric and positive definite"),
    ([0.0, 0.0], [[1, 0.5], [0, 1]], "`cov` must be symmetric"),
    ([0.0, 0.0], [[1e-9, 5e-10], [-5e-10, 1e-9]], "`cov` must be symmetric"),
    ([], np.empty((0, 0)), "`cov` must be"),
])  # fmt: skip
def test_bad_gaussians(mean, cov, sentence):
    with pytest.raises(ValueError, match=sentence):
        tau_x_gaussian(mean, cov, 0, 1)


# Real-valued features: the library cannot know τ_X.


def features(seed=0, n=2000):
    """Columns 0 to 3 share a law, 4 is shifted, 5 is wider, 6 is −column 0, 7 a copy of column 0 with noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 8))
    x[:, 4] += 0.5
    x[:, 5] *= 1.6
    x[:, 6] = -x[:, 0]
    x[:, 7] = (x[:, 0] + 0.1 * x[:, 7]) / np.sqrt(1.01)
    return x, rng.standard_normal(n)


@pytest.mark.parametrize("j", (4, 5))
@pytest.mark.parametrize("test", (swap_test, paired_swap_test))
def test_columns_of_different_laws_are_refused(test, j):
    x, y = features()
    score = AbsoluteResidual(np.arange(8.0))
    with pytest.raises(ValueError, match=f"`tau_x` must be given: columns 0 and {j} .*`tau_x_gaussian`.*tau_x=0.0"):
        test(x, y, 0, j, score=score)
    with pytest.raises(ValueError, match="`tau_x` must be given: columns 3 and"):
        test(x, y, [0, 3], [1, j], score=score)
    assert test(x, y, 0, j, score=score, tau_x=0.0).pvalue == test(x, y, j, 0, score=score, tau_x=0.0).pvalue
    assert test(x, y, 0, j, score=score, tau_x=0.4).pvalue >= test(x, y, 0, j, score=score, tau_x=0.0).pvalue
    for k in (1, 6, 7):  # Exchangeable, however they depend on each other.
        test(x, y, 0, k, score=score)


@pytest.mark.parametrize("test", (swap_test_many, paired_swap_test_many))
def test_one_bad_pair_among_many_is_named(test):
    x, y = features()
    with pytest.raises(ValueError, match="columns 2 and 5"):
        test(x, y, [(0, 1), (2, 5), (1, 3)], score=AbsoluteResidual(np.arange(8.0)))


@pytest.mark.parametrize("kind", (bool, int, float))
def test_masks_of_different_rates_are_refused_too(kind):
    rng = np.random.default_rng(0)
    x = (rng.random((2000, 3)) < [0.2, 0.5, 0.2]).astype(kind)
    y, score = rng.standard_normal(2000), AbsoluteResidual([0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="columns 0 and 1 of `x` have different laws"):
        swap_test(x, y, 0, 1, score=score)
    assert swap_test(x, y, 0, 2, score=score).pvalue <= 1.0
    packed = PackedMasks.from_bool(x.astype(bool))  # The business of `check_exchangeable`.
    assert swap_test(packed, y, 0, 1, score=score).pvalue <= 1.0


def test_the_look_at_marginals_keeps_its_level(monkeypatch):
    """At a level of 0.05 instead of 1e-6, for columns that depend on each other in every way."""
    monkeypatch.setattr("datamodels_inf.tau_x.MARGINALS", 0.05)
    refused = {1: 0, 6: 0, 7: 0}
    for seed in range(400):
        x, _ = features(seed, n=200)
        for j in refused:
            try:
                check_marginals(x, np.array([[[0], [j]]]))
            except ValueError:
                refused[j] += 1
    assert max(refused.values()) <= 400 * 0.05 + 4 * np.sqrt(400 * 0.05)


@pytest.mark.parametrize("tau_x", (-0.1, np.nan, "0"))
def test_bad_tau_x(tau_x):
    x, y = features()
    with pytest.raises(ValueError, match="`tau_x` must be"):
        swap_test(x, y, 0, 1, score=AbsoluteResidual(np.arange(8.0)), tau_x=tau_x)
