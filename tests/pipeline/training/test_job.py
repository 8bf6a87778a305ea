"""A job reads back from its manifest, also from older ones; what is no job is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.sources.embedded import FOLDER
from pipeline.training.job import Job

JOB = Job("digits", 40, 20, "0" * 64, 1100, Recipe(hidden=4), 3, 0.5, "fixed-size")
STUDY = replace(
    JOB,
    recipe=Recipe(decay="weights", last_layer="zero"),
    features=PatchRecipe(n_centroids=64),
    margin_step=0.1,
)


def through_a_file(found):
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("job", (JOB, STUDY), ids=("pixels", "patches"))
def test_a_job_reads_back(job):
    assert Job.of_json(through_a_file(job.as_json())) == job


def test_older_manifests_read_back_equal():
    """Those of before features, steps of margins, kinds of decay and last layers."""
    found = through_a_file(JOB.as_json())
    del found["features"], found["margin_step"], found["recipe"]["decay"], found["recipe"]["last_layer"]
    assert Job.of_json(found) == JOB
    shipped = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["job"]
    assert "features" not in shipped
    assert Job.of_json(shipped).recipe == Recipe()


@pytest.mark.parametrize("changes", (
    {"epochs": 3},
    {"recipe": {"momentum": 0.9}},
    {"recipe": {"steps": 0}},
    {"recipe": 3},
    {"features": {"patch": 0}},
    {"features": {"colour": "red"}},
    {"features": [1]},
    {"n_train": "40"},
    {"n_targets": 2.5},
    {"seed": -1},
    {"seed": "abc"},
    {"proportion": 0.0},
    {"law": "foo"},
    {"margin_step": 0.0},
    {"margin_step": float("inf")},
    {"recipe": {"steps": True}},
), ids=str)  # fmt: skip
def test_what_is_unknown_or_wrong_is_no_job(changes):
    with pytest.raises(ValueError, match=r"no job of `train`|validation error"):
        Job.of_json(through_a_file(JOB.as_json()) | changes)


@pytest.mark.parametrize("missing", ("n_train", "recipe", "seed"))
def test_what_is_missing_is_no_job(missing):
    found = JOB.as_json()
    del found[missing]
    with pytest.raises(ValueError, match=missing):
        Job.of_json(found)


def test_margins_are_read_as_they_are_kept():
    margins = np.array([[0.1234, -0.26]], np.float32)
    np.testing.assert_allclose(STUDY.kept(margins), [[0.1, -0.3]], rtol=1e-6)
    np.testing.assert_array_equal(JOB.kept(margins), margins.astype(np.float16))


def test_a_list_is_no_job():
    with pytest.raises(ValueError, match="no job of `train`"):
        Job.of_json([1, 2])
