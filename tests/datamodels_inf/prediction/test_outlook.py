import numpy as np
import pytest
from scipy.special import ndtr

from datamodels_inf.prediction.mixture import ScaleMixture
from datamodels_inf.prediction.outlook import HOEFFDING, NORMAL, Outlook

MIXTURE = ScaleMixture(np.array([0.0, 1.0, 4.0]), np.array([0.5, 0.3, 0.2]))


@pytest.mark.parametrize("law", (NORMAL, HOEFFDING), ids=lambda law: law.name)
def test_chances_are_those_of_simulated_tests(law):
    """Effects drawn from the mixture, kept where z on the fit rows is about what the outlook was asked for."""
    rng = np.random.default_rng(0)
    draws, gain = 2_000_000, 1.3
    effect = MIXTURE.scale[rng.choice(3, draws, p=MIXTURE.share)] * rng.standard_normal(draws)
    z = effect + rng.standard_normal(draws)
    p = law.pvalue(np.abs(gain * effect + rng.standard_normal(draws)))
    for wanted in (0.0, 2.0, 4.0):
        near = np.abs(np.abs(z) - wanted) < 0.05
        outlook = Outlook(np.array([wanted]), np.array([gain]), MIXTURE, law)
        for level in (0.1, 1e-3):
            expected = outlook.chance(np.array([level]))[0]
            assert (p[near] <= level).mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / near.sum()))


def test_without_effects_a_level_is_its_chance():
    nothing = ScaleMixture(np.array([0.0]), np.array([1.0]))
    level = np.array([1e-6, 1e-3, 0.1, 1.0])
    assert Outlook(np.zeros(4), np.ones(4), nothing).chance(level) == pytest.approx(level, rel=0.01)


def test_laws_are_inverses():
    level = np.array([1e-12, 1e-3, 0.5])
    for law in (NORMAL, HOEFFDING):
        assert law.pvalue(law.critical(level)) == pytest.approx(level)
    assert NORMAL.pvalue(np.array([1.96])) == pytest.approx(2 * ndtr(-1.96))


def test_at_the_levels_of_a_ratio_one_more_unit_of_level_is_worth_the_same():
    outlook = Outlook(np.array([1.0, 3.0, 5.0]), np.array([0.8, 1.0, 1.2]), MIXTURE)
    levels = outlook.levels(2.0)
    step = 0.05 * levels
    slope = (outlook.chance(levels + step) - outlook.chance(levels - step)) / (2 * step)
    assert slope == pytest.approx(np.exp(2.0), rel=0.1)
