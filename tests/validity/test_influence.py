"""Estimates of single images: unbiased, covering and calibrated far into the tail, whatever θ̂ is.

That the checks can fail is shown on broken variants: θ̂ fitted on the tested rows, the own weight not added back.
"""

from dataclasses import replace

import numpy as np
import pytest
from long_runs import times
from scipy.special import stdtrit
from scipy.stats import binom

from datamodels_inf import Datamodel, PackedMasks, influence_atlas

LEVELS = (0.05, 1e-3, 1e-4, 1e-5, 1e-6)
D = 40


def draw_masks(law, gamma, n, d, rng):
    if law == "coins":
        return rng.random((n, d)) < gamma
    return rng.permuted(np.tile(np.arange(d) < round(gamma * d), (n, 1)), axis=1)


def atlas(x, y, theta):
    """(Δ̂, SE), (targets, d), of margins (n, targets) and θ̂ (d, targets)."""
    fitted = Datamodel(theta, np.zeros(y.shape[1]), np.full(y.shape[1], np.nan))
    tiles = list(influence_atlas(PackedMasks.from_bool(x), y, fitted, memory_gb=0.5, tails=False))
    return np.concatenate([t.estimate for t in tiles]), np.concatenate([t.standard_error for t in tiles])


def product_effects(law, gamma, d):
    """Δ of y = x_0·x_1: of images 0 and 1, and of the others."""
    if law == "coins":
        return gamma * (d - 2) / (d - 1), -2 * gamma / (d - 1)
    size = round(gamma * d)
    both = (size - 1) / ((d - 1) * (d - 2))
    return (size - 1) / (d - 1), both * (size - 2) - both * size


TRUTHS = ("linear", "product")
PREDICTORS = ("good", "bad", "zero")


def simulate(law, gamma, truth, predictor, draws, n=300, targets=32, seed=0):
    """How often the 95 % interval covers, and the mean of (Δ̂ − Δ)/SE, over `draws` sets of masks.

    Targets of one set share their masks, and the product, so that sets count and not targets.
    """
    rng = np.random.default_rng(seed)
    covered, bias = [], []
    quantile = stdtrit(n - 1, 0.975)
    for _ in range(draws):
        x = draw_masks(law, gamma, n, D, rng)
        beta = rng.standard_normal((D, targets)) * (rng.random((D, targets)) < 0.3)
        effect = beta - (beta.sum(axis=0) - beta) / (D - 1)
        signal = x @ beta
        if truth == "product":
            signal = signal + 2.0 * (x[:, 0] & x[:, 1])[:, None]
            own, others = product_effects(law, gamma, D)
            effect = effect + 2.0 * np.where(np.arange(D) < 2, own, others)[:, None]
        y = signal + rng.standard_normal((n, targets))
        theta = {"good": beta, "bad": rng.standard_normal(beta.shape), "zero": np.zeros(beta.shape)}[predictor]
        estimate, error = atlas(x, y, theta)
        ratio = (estimate - effect.T) / error
        covered.append(np.mean(np.abs(ratio) <= quantile))
        bias.append(ratio.mean())
    return np.mean(covered), np.mean(bias)


@pytest.mark.parametrize("predictor", PREDICTORS)
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("gamma", (0.1, 0.5, 0.75))
@pytest.mark.parametrize("law", ("fixed-size", "coins"))
def test_intervals_cover(law, gamma, truth, predictor):
    coverage, bias = simulate(law, gamma, truth, predictor, draws=times(150, 1500))
    assert 0.94 <= coverage <= 0.96
    assert abs(bias) < 0.05


def draw_noise(noise, shape, rng):
    if noise == "clipped":
        return np.minimum(rng.standard_normal(shape) + 1.5, 0.0)
    draw = {"normal": rng.standard_normal, "skewed": lambda size: rng.exponential(size=size)}
    return draw[noise](shape)


def null_counts(law, gamma, n, tests, noise, predictor="zero", d=2000, targets=50, student=False):
    """(tests made, those with p up to each of LEVELS) where no image has any effect; `student`: by z alone."""
    rng = np.random.default_rng(0)
    made, counts = 0, np.zeros(len(LEVELS), np.int64)
    while made < tests:
        x = draw_masks(law, gamma, n, d, rng)
        y = draw_noise(noise, (n, targets), rng)
        theta = np.zeros((d, targets))
        if predictor == "of these rows":
            dense = x.astype(float)
            theta = dense.T @ np.linalg.solve(dense @ dense.T + 100.0 * np.eye(n), y)  # A ridge regression.
        if predictor in ("bad", "not added back"):
            theta = 0.1 * rng.standard_normal((d, targets))
        fitted = Datamodel(theta, np.zeros(targets), np.full(targets, np.nan))
        for tile in influence_atlas(PackedMasks.from_bool(x), y, fitted, memory_gb=0.5):
            own = (theta - (theta.sum(axis=0) - theta) / (d - 1)).T if predictor == "not added back" else 0.0
            tile = replace(tile, estimate=tile.estimate - own, tails=() if student else tile.tails)
            p = tile.pvalue
            counts += [np.count_nonzero(p <= level) for level in LEVELS]
            made += p.size
    return made, counts


def keeps_its_levels(made, counts):
    """The tests share masks and targets, so their count varies more than a binomial one: by a quarter at most."""
    return all(
        count <= binom.ppf(1 - 1e-6, made, min(1.0, 1.25 * level)) for count, level in zip(counts, LEVELS, strict=True)
    )


@pytest.mark.parametrize("noise", ("normal", "skewed", "clipped"))
@pytest.mark.parametrize(
    ("law", "gamma", "n"),
    (
        ("fixed-size", 0.5, 1000),
        ("coins", 0.5, 300),
        ("coins", 0.1, 300),
        ("fixed-size", 0.1, 1000),
        ("fixed-size", 0.75, 300),
    ),
)
def test_tails_are_calibrated(law, gamma, n, noise):
    made, counts = null_counts(law, gamma, n, times(500_000, 100_000_000), noise)
    assert keeps_its_levels(made, counts), (made, counts)
    assert counts[0] > 0.35 * LEVELS[0] * made  # And not for being blind.


@pytest.mark.parametrize(("gamma", "noise"), [(0.1, "skewed"), (0.1, "clipped"), (0.75, "clipped")])
def test_students_law_alone_does_not(gamma, noise):
    """What the tail of the target's own law is there for."""
    made, counts = null_counts("coins", gamma, 1000, 500_000, noise, student=True)
    assert not keeps_its_levels(made, counts)


@pytest.mark.parametrize("predictor", ("of these rows", "not added back", "bad"))
def test_broken_variants_are_seen(predictor):
    """And a θ̂ that is merely bad is none of them."""
    made, counts = null_counts("fixed-size", 0.5, 300, 1_000_000, "normal", predictor=predictor)
    assert keeps_its_levels(made, counts) == (predictor == "bad")
