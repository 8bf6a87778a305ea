"""Effects of pairs are the contrasts of the library, groups included; the others are drawn from what was tested."""

import numpy as np
import pytest
from small_fresh import FRESH, dense, pipeline

from datamodels_inf import contrast
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.findings import Family
from pipeline.stages.fresh.models import FreshModels
from pipeline.stages.fresh.pairs import FIGURES, choose, pair_effects
from pipeline.stages.inputs import Fitted


def test_effects_are_those_of_the_library_with_the_fitted_datamodel(inputs):
    fitted, models = Fitted.of(inputs["fit"]), FreshModels.of(inputs["fresh"])
    masks, margins = dense(inputs["fresh"])
    first, second = (int(target) for target in np.sort(fitted.targets)[:2])
    bounds, target = np.array([0, 1, 3, 4]), np.array([first, first, second])
    pairs = Pairs(np.array([3, 5, 6, 8]), np.array([4, 7, 9, 2]), bounds, target, np.zeros(3, np.int8), ("",))
    steps = []
    made = pair_effects(models, fitted, pairs, 1, steps.append)
    assert sum(steps) == 3
    for k, (i, j) in enumerate((([3], [4]), ([5, 6], [7, 9]), ([8], [2]))):
        place = int(fitted.places(target[k : k + 1])[0])
        theta, bias = fitted.datamodel.weight[:, place].astype(float), float(fitted.datamodel.bias[place])
        expected = contrast(masks, margins[:, target[k]].astype(float), i, j, theta=theta, bias=bias)
        assert made.estimate[k] == pytest.approx(expected.estimate)
        assert made.standard_error[k] * 1.9 < expected.interval[1] - expected.estimate < made.standard_error[k] * 2.3


def test_others_are_tests_that_were_made_and_are_no_findings(made):
    test = pipeline(made, f"verify.fresh={FRESH}").config.test
    p = np.concatenate([np.full(150, 1e-9), np.full(100, np.nan), np.linspace(0.3, 1.0, 400)])
    figures = dict.fromkeys(FIGURES, np.ones(len(p))) | {"effect": np.arange(len(p), dtype=float)}
    family = Family(p, test)
    chosen = choose(family, figures, np.random.default_rng(0))
    assert chosen.place[chosen.tests.found].tolist() == list(range(150))
    others = chosen.place[~chosen.tests.found]
    assert len(others) == len(set(others.tolist())) == 150
    assert others.min() >= 250
    assert (chosen.n_tests, chosen.n_found) == (550, 150)
    np.testing.assert_array_equal(chosen.tests.effect, chosen.place)
    assert np.isfinite(chosen.tests.low_selected[chosen.tests.found]).all()
    assert np.isnan(chosen.tests.low_selected[~chosen.tests.found]).all()
    assert (choose(family, figures, np.random.default_rng(0)).place == chosen.place).all()
    assert (choose(family, figures, np.random.default_rng(1)).place != chosen.place).any()
