"""Findings of single images: exactly those whose adjusted p-values are small enough, over a target or over all."""

from dataclasses import dataclass

import numpy as np
import pytest
from small_atlas import ALL, TARGETS, D, pipeline, theta_of

from datamodels_inf import adjust_pvalues
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.influence import influence_pvalue
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Test
from pipeline.stages.atlas.influence import UNWEIGHTED, Counts, found_of_targets, found_over_all
from pipeline.stages.inputs import Fitted
from pipeline.summaries import AtlasSummary

OFFERED = [name for name, correction in CORRECTIONS.items() if not correction.needs_prior]
FOUND = {"target": found_of_targets, "all": found_over_all}


def silent(count):
    pass


def arrays(atlas):
    """(estimates, standard errors, p-values), each (targets, images)."""
    estimate, error = np.stack([atlas.of_target(place) for place in range(len(atlas.targets))], axis=1)
    rows = zip(estimate, error, strict=True)
    return estimate, error, np.stack([atlas.pvalue(place, *row) for place, row in enumerate(rows)])


def adjusted(pvalue, family, correction, alpha=0.2):
    if family == "all":
        return adjust_pvalues(pvalue.ravel(), correction, alpha=alpha).reshape(pvalue.shape)
    return np.stack([adjust_pvalues(row, correction, alpha=alpha) for row in pvalue])


@pytest.mark.parametrize("alpha", (1e-30, 0.001, 0.05, 0.2, 0.9))
@pytest.mark.parametrize("correction", OFFERED)
@pytest.mark.parametrize("family", FOUND)
def test_findings_are_those_of_all_p_values_adjusted_together(atlas, family, correction, alpha):
    _, _, pvalue = arrays(atlas)
    findings = FOUND[family](atlas, Test(alpha=alpha, correction=correction), UNWEIGHTED, silent)
    found = np.stack([findings.is_finding(place) for place in range(TARGETS)])
    np.testing.assert_array_equal(found, adjusted(pvalue, family, correction, alpha) <= alpha)
    for row, limit in zip(np.where(found, pvalue, -1.0), findings.limit, strict=True):
        largest = row.max() if family == "target" else np.where(found, pvalue, -1.0).max()
        assert limit == largest


@pytest.mark.parametrize("family", FOUND)
def test_the_stage_counts_findings_of_targets_images_and_weights(source, store, atlas, family):
    result = pipeline(source, store, ALL, f"atlas.family={family}").run("influence")
    estimate, _, pvalue = arrays(atlas)
    found = adjusted(pvalue, family, "by") <= 0.2
    theta = np.stack([theta_of(store, target)[0] for target in range(TARGETS)])
    with np.load(result.folder / "findings.npz") as saved:
        np.testing.assert_array_equal(saved["n_found"], found.sum(axis=1))
        np.testing.assert_array_equal(saved["n_nonzero"], (theta != 0).sum(axis=1))
        np.testing.assert_array_equal(saved["n_stand"], (found & (theta * estimate > 0)).sum(axis=1))
        np.testing.assert_array_equal(saved["raised"], (found & (estimate > 0)).sum(axis=0))
        np.testing.assert_array_equal(saved["lowered"], (found & (estimate < 0)).sum(axis=0))
    assert 0 < found.sum() < found.size
    assert 0 < (found & (theta * estimate > 0)).sum() < (theta != 0).sum()
    expected = {"family": family, "alpha": 0.2, "correction": "by", "n_targets": TARGETS, "n_tests": D * TARGETS,
                "n_found": found.sum(), "n_nonzero": (theta != 0).sum(),
                "n_stand": (found & (theta * estimate > 0)).sum()}  # fmt: skip
    assert result.summary == expected


@dataclass
class Made:
    """As much of an atlas as findings need."""

    estimate: np.ndarray
    error: np.ndarray
    summary: AtlasSummary

    @property
    def targets(self):
        return np.arange(len(self.estimate))

    def of_target(self, place):
        return self.estimate[place], self.error[place]

    def pvalue(self, place, estimate, error):
        return influence_pvalue(estimate, error, self.summary.n_models)


def weights(weight):
    return Fitted([Datamodel(weight, *np.zeros((2, weight.shape[1])))], np.arange(weight.shape[1]))


def made(estimate, error, n_models):
    n_targets, n_train = np.shape(estimate)
    summary = AtlasSummary.model_construct(
        targets=tuple(range(n_targets)), n_train=n_train, n_models=n_models, tile_targets=16
    )
    return Made(np.asarray(estimate, np.float32), np.asarray(error, np.float32), summary)


@pytest.mark.parametrize("n_models", (3, 60, 4000))
@pytest.mark.parametrize("family", FOUND)
def test_p_values_that_are_0_and_images_of_which_nothing_is_known(family, n_models):
    """0 because of underflow, or of no error at all; 1 where all models saw an image, or where nothing varies."""
    estimate = [[1.0, 0.01, 5.0, 0.0], [1e-30, -2.0, 0.0, 1.0]]
    error = [[1e-30, 1.0, np.inf, 0.0], [1.0, 0.0, 1.0, 1.0]]
    atlas = made(estimate, error, n_models)
    pvalue = influence_pvalue(atlas.estimate, atlas.error, n_models)
    for correction in OFFERED:
        found = FOUND[family](atlas, Test(alpha=0.05, correction=correction), UNWEIGHTED, silent)
        counts = Counts.of(found, weights(np.ones((4, 2))), silent)
        assert counts.n_found.tolist() == [1, 1]
        assert (counts.raised.tolist(), counts.lowered.tolist()) == ([1, 0, 0, 0], [0, 1, 0, 0])
        np.testing.assert_array_equal(counts.n_found, (adjusted(pvalue, family, correction, 0.05) <= 0.05).sum(axis=1))


@pytest.mark.parametrize("family", FOUND)
def test_nothing_found(family):
    atlas = made(np.zeros((3, 5)), np.ones((3, 5)), 100)
    found = FOUND[family](atlas, Test(alpha=0.2), UNWEIGHTED, silent)
    assert (found.limit < 0).all()
    assert np.isnan(found.level).all()
    assert Counts.of(found, weights(np.zeros((5, 3))), silent).n_found.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("changed", "again"), [
    ("test.alpha=0.1", True),
    ("test.correction=holm", True),
    ("atlas.family=all", True),
    ("test.method=contrast", False),
    ("test.repeats=3", False),
    ("test.seed=4", False),
])  # fmt: skip
def test_what_makes_the_findings_anew_and_not_the_atlas(source, small_tiles, tmp_path, changed, again):
    pipeline(source, tmp_path, ALL).run("influence")
    lines = []
    pipeline(source, tmp_path, ALL, changed, lines=lines).run("influence")
    states = {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}
    assert states["atlas"] == states["fit"] == "cached"
    assert states["influence"] == ("running" if again else "cached")
