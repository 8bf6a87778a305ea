"""Influences by fresh models are the library's, and a sample of the atlas gives each cell the same chance."""

import numpy as np
import pytest
from small_fresh import dense

from datamodels_inf import influence
from pipeline.stages.atlas.found import Found
from pipeline.stages.fresh import cells as module
from pipeline.stages.fresh.cells import cell_effects, choose_cells
from pipeline.stages.fresh.models import FreshModels
from pipeline.stages.inputs import Fitted


@pytest.fixture
def found(inputs):
    return Found.read(inputs)


def chosen(found, seed=0):
    return choose_cells(found, seed, lambda count: None)


def test_all_findings_are_there_with_their_own_intervals(found):
    cells = chosen(found)
    for place in range(len(found.atlas.targets)):
        own = cells.place == place
        finding = found.is_finding(place)
        assert set(cells.image[own & cells.tests.found].tolist()) == set(np.flatnonzero(finding).tolist())
        assert not finding[cells.image[own & ~cells.tests.found]].any()
        estimate, error = found.atlas.of_target(place)
        np.testing.assert_array_equal(cells.tests.effect[own], estimate[cells.image[own]])
        np.testing.assert_array_equal(cells.tests.error[own], error[cells.image[own]])
    assert cells.n_found == cells.tests.found.sum() > 0
    assert cells.n_tests == 80 == len(cells.place)  # FEWEST others are more than there are.
    longer = cells.tests.high_selected >= cells.tests.high
    assert longer[cells.tests.found].all()
    assert np.isnan(cells.tests.high_selected[~cells.tests.found]).all()


def test_of_too_many_a_sample_is_taken_with_equal_chances(found, monkeypatch):
    monkeypatch.setattr(module, "MOST", 4)
    counts = np.zeros((2, found.atlas.summary.n_train))
    draws = 200
    for seed in range(draws):
        cells = chosen(found, seed)
        assert (cells.tests.found.sum(), (~cells.tests.found).sum()) == (4, 4)
        assert len(set(zip(cells.place.tolist(), cells.image.tolist(), strict=True))) == 8
        assert (np.diff(cells.place) >= 0).all()
        np.add.at(counts, (cells.place[~cells.tests.found], cells.image[~cells.tests.found]), 1)
    left = np.stack([~found.is_finding(place) for place in range(2)])
    expected = 4 * draws / left.sum()
    assert not counts[~left].any()
    assert ((counts[left] - expected) ** 2 / expected).sum() < left.sum() + 5 * np.sqrt(2 * left.sum())


def test_effects_are_those_of_the_library_with_the_fitted_datamodel(inputs, found):
    fitted, models = Fitted.of(inputs["fit"]), FreshModels.of(inputs["fresh"])
    masks, margins = dense(inputs["fresh"])
    cells, targets = chosen(found), found.atlas.targets
    made = cell_effects(models, fitted, targets, cells, 1, lambda count: None)
    for place, target in enumerate(targets.tolist()):
        column = int(fitted.places(np.array([target]))[0])
        theta, bias = fitted.datamodel.weight[:, column].astype(float), float(fitted.datamodel.bias[column])
        expected = influence(masks, margins[:, target].astype(float), theta=theta, bias=bias)
        own = cells.place == place
        np.testing.assert_allclose(made.estimate[own], expected.estimate[cells.image[own]], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(made.standard_error[own], expected.standard_error[cells.image[own]], rtol=1e-6)
    assert (made.freedom == 399).all()
