"""Evidence: influences on the fit rows by a plain way, from these rows alone, and a run that was killed."""

import sys

import numpy as np
import pytest
from killed_run import killed_when
from small_atlas import FIT_ROWS, TARGETS, D
from small_prior import EVERY_MODEL, content_of, datamodel, evidence, pipeline, with_other_margins, words

from pipeline.stages.prior.evidence import Evidence

DOGS = list(range(1, TARGETS, 2))
ALL = "atlas.targets=all"
SMALL_TILES = "import pipeline.stages.atlas.tiles as tiles; tiles.TILE_BYTES = 1; "
SLOW = (
    "import time; from datamodels_inf.prediction import ImageEvidence; real = ImageEvidence.of; "
    "wait = lambda tile: time.sleep(tile.targets.start and 60); "
    "ImageEvidence.of = lambda tile, *given, **more: (wait(tile), real(tile, *given, **more))[1]; "
)
MAIN = "from pipeline.cli import main; main()"


def states(lines):
    return {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}


@pytest.mark.parametrize("first", ((), EVERY_MODEL), ids=("held-out", "every model"))
def test_every_number_is_that_of_the_fit_rows_with_residuals_made_as_large_as_on_new_rows(source, tmp_path, first):
    found = Evidence.of(pipeline(source, tmp_path, *first).run("evidence"))
    assert (found.summary.n_models, found.summary.n_train) == (FIT_ROWS, D)
    assert found.targets.tolist() == DOGS
    models = datamodel(tmp_path, "datamodel-0.npz" if first else "datamodel.npz")
    for target in DOGS:
        estimate, error = evidence(source, *models[target], target)
        np.testing.assert_allclose(found.on(target)[0], estimate, rtol=2e-4, atol=1e-6)
        np.testing.assert_allclose(found.on(target)[1], error, rtol=2e-4)


def test_scores_that_are_only_scaled_here_spend_no_rows(source, tmp_path):
    found = Evidence.of(pipeline(source, tmp_path, "fit.mode=load", "fit.calibrate=true").run("evidence"))
    models = datamodel(tmp_path)
    estimate, error = evidence(source, *models[3], 3, fitted=False)
    np.testing.assert_allclose(found.on(3), [estimate, error], rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize(("wanted", "targets"), [
    (ALL, list(range(TARGETS))),
    ("atlas.targets=[8, 2]", sorted([2, 8, *DOGS])),
    ("atlas.targets=needed", DOGS),
])  # fmt: skip
def test_it_is_of_all_targets_that_tests_or_the_atlas_ask_for(source, tmp_path, wanted, targets):
    assert pipeline(source, tmp_path, wanted).run("evidence").summary["targets"] == targets


def test_what_makes_it_anew(source, tmp_path):
    def state(*more):
        lines = []
        pipeline(source, tmp_path, "fit.targets=all", *more, lines=lines).run("evidence")
        return states(lines)["evidence"]

    assert state() == "running"
    for same in ("test.alpha=0.1", "test.correction=by", "test.seed=3", "atlas.family=all", "test.method=swap"):
        assert state(same) == "cached"
    assert state(ALL) == "running"
    assert state("test.target_class=cat") == "running"


@pytest.mark.parametrize("first", ((), EVERY_MODEL), ids=("held-out", "every model"))
def test_held_out_margins_cannot_reach_it(source, tmp_path, first):
    before = pipeline(source, tmp_path / "a", *first).run("evidence")
    other = with_other_margins(source, tmp_path / "other", slice(FIT_ROWS, None))
    after = pipeline(other, tmp_path / "b", *first).run("evidence")
    assert content_of(before) == content_of(after)
    other = with_other_margins(source, tmp_path / "fit", slice(FIT_ROWS - 1, FIT_ROWS))
    assert content_of(pipeline(other, tmp_path / "c", *first).run("evidence")) != content_of(before)


def test_too_few_fit_rows_are_said(source, tmp_path):
    lines = []
    few = ("fit.mode=load", "fit.calibrate=true", "source.fit_rows=2")
    made = pipeline(source, tmp_path, *few, lines=lines)
    assert made.run("evidence").summary["targets"] == []
    assert any(
        "the fit rows say nothing about effects: of the fit rows, `masks` must have at least" in s for s in lines
    )
    prior = made.run("prior").summary["methods"]["contrast"]
    assert "must have at least" in prior["reason"]
    assert "expected" not in prior


def test_a_killed_run_goes_on_at_its_tile_and_ends_with_the_same_bytes(source, tmp_path, monkeypatch):
    command = ["run", *words(source, ALL, "report.max_panels=0"), "--store", "store"]
    slow = [sys.executable, "-c", SMALL_TILES + SLOW + MAIN, *command]
    (first,) = killed_when(slow, tmp_path, "store/evidence/.work-*/tile-000000.npy")
    number = first.stat().st_ino
    monkeypatch.setattr("pipeline.stages.atlas.tiles.TILE_BYTES", 1)
    lines = []
    resumed = pipeline(source, tmp_path / "store", ALL, "report.max_panels=0", lines=lines).run("evidence")
    assert any("going on with evidence that was stopped: 1 of 3 tiles are done" in line for line in lines)
    assert (resumed.folder / "tile-000000.npy").stat().st_ino == number
    whole = pipeline(source, tmp_path / "whole", ALL).run("evidence")
    assert content_of(resumed) == content_of(whole)
    assert sorted(content_of(whole)) == [f"tile-{first:06d}.npy" for first in (0, 16, 32)]
