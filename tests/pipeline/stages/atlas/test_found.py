"""What decides about a finding of the atlas: p over its weight, and the limit of its target; and its interval."""

from dataclasses import dataclass

import numpy as np
import pytest

from datamodels_inf.influence import influence_pvalue
from pipeline.stages.atlas.found import Found, scaled_pvalues
from pipeline.stages.atlas.weights import ALL
from pipeline.summaries import AtlasSummary

N = 200


@dataclass
class Made:
    """As much of an atlas as findings need: some z-scores of one target."""

    z: np.ndarray

    @property
    def summary(self):
        return AtlasSummary.model_construct(targets=(4,), n_train=len(self.z), n_models=N, tile_targets=16)

    def of_target(self, place):
        return self.z.astype(np.float32), np.ones(len(self.z), np.float32)

    def of_image(self, image):
        return self.z[[image]].astype(np.float32), np.ones(1, np.float32)

    def pvalue(self, place, estimate, error):
        return influence_pvalue(estimate, error, N)

    def pvalues_of_image(self, estimate, error):
        return self.pvalue(0, estimate, error)


@dataclass
class Given:
    """Weights."""

    weight: np.ndarray

    def of_target(self, place, images=ALL):
        return self.weight[images]

    def of_image(self, image):
        return self.weight[[image]]

    def extremes(self, place):
        return self.weight.min(), self.weight.max()


@pytest.fixture
def atlas():
    return Made(3.0 * np.random.default_rng(2).standard_normal(500))


@pytest.mark.parametrize("limit", (1e-300, 1e-9, 1e-4, 0.01, 0.3))
@pytest.mark.parametrize("weighted", (False, True))
def test_no_p_value_that_counts_is_left_out(atlas, limit, weighted):
    weight = np.random.default_rng(3).uniform(0.0, 20.0, 500) if weighted else np.ones(500)
    estimate, error = atlas.of_target(0)
    expected = atlas.pvalue(0, estimate, error) / weight
    found = scaled_pvalues(atlas, 0, ALL, Given(weight) if weighted else None, limit)
    np.testing.assert_array_equal(found, np.where(expected <= limit, expected, np.inf))
    some = np.array([9, 400, 3])
    np.testing.assert_array_equal(scaled_pvalues(atlas, 0, some, Given(weight), limit), np.where(
        expected[some] <= limit, expected[some], np.inf
    ) if weighted else found[some])  # fmt: skip


def test_an_image_is_a_finding_on_the_same_targets_whichever_way_it_is_asked_for(atlas):
    weight = np.random.default_rng(4).uniform(0.5, 3.0, 500)
    for weights in (None, Given(weight)):
        found = Found(atlas, np.array([1e-3]), np.array([0.99]), weights)
        by_target = found.is_finding(0)
        assert 0 < by_target.sum() < 500
        assert [bool(found.of_image(image)[0]) for image in range(500)] == by_target.tolist()


def test_nothing_is_a_finding_without_a_limit(atlas):
    found = Found(atlas, np.array([-1.0]), np.array([np.nan]), None)
    assert not found.is_finding(0).any()
    assert not found.of_image(3).any()


def test_the_level_of_an_interval_falls_with_the_weight_and_not_below_95_percent(atlas):
    weight = np.full(500, 0.5)
    weight[:3] = 1.0, 4.0, 30.0
    found = Found(atlas, np.array([1e-3]), np.array([0.99]), Given(weight))
    assert found.levels(0, np.array([0, 1, 2, 3])) == pytest.approx([0.99, 0.96, 0.95, 0.995])
    assert found.level_range(0) == pytest.approx((0.95, 0.995))
    plain = Found(atlas, np.array([1e-3]), np.array([0.99]), None)
    assert set(plain.levels(0).tolist()) == {0.99}
    assert plain.level_range(0) == (0.99, 0.99)
