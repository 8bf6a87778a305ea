import numpy as np
import pytest

from datamodels_inf.prediction.mixture import ScaleMixture


def rounded(z):
    """(sizes, how many): what `Family` makes of them."""
    return np.unique(np.abs(z).round(1), return_counts=True)


def test_a_known_mixture_is_recovered():
    rng = np.random.default_rng(0)
    scale = np.where(rng.random(40_000) < 0.1, 4.0, 0.0)
    z = scale * rng.standard_normal(40_000) + rng.standard_normal(40_000)
    found = ScaleMixture.fit(*rounded(z))
    assert found.share[found.scale > 2.5].sum() == pytest.approx(0.1, abs=0.015)
    assert found.share @ found.scale**2 == pytest.approx(1.6, rel=0.1)


def test_without_effects_there_are_none():
    z = np.random.default_rng(1).standard_normal(20_000)
    found = ScaleMixture.fit(*rounded(z))
    assert found.share @ found.scale**2 < 0.03


def test_counts_are_repetitions():
    z, count = np.array([0.1, 1.0, 3.0, 6.0]), np.array([50, 30, 4, 2])
    counted, repeated = (
        ScaleMixture.fit(*sizes) for sizes in ((z, count), (np.repeat(z, count), np.ones(86, np.int64)))
    )
    assert counted.share == pytest.approx(repeated.share, abs=1e-9)


def test_posteriors_are_bayes_rule():
    mixture = ScaleMixture(np.array([0.0, 3.0]), np.array([0.8, 0.2]))
    z = np.array([0.0, 2.0, 30.0])
    prior = 0.8 * np.exp(-(z**2) / 2), 0.2 * np.exp(-(z**2) / 20) / np.sqrt(10)
    assert mixture.posterior(z)[:, 1] == pytest.approx(prior[1] / (prior[0] + prior[1]))
