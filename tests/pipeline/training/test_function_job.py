"""A job of a function reads back from its manifest, and has few models in a batch."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pipeline.training.function_job import FunctionJob

JOB = FunctionJob("mine:train_one", "0" * 64, 40, 5, 300, 3, 0.5, "fixed-size", {"subsets.json": "1" * 64})


def test_a_job_reads_back():
    assert FunctionJob.of_json(json.loads(json.dumps(JOB.as_json()))) == JOB
    assert JOB.dataset == "mine:train_one"


@pytest.mark.parametrize("changes", (
    {"recipe": {}}, {"n_train": "40"}, {"n_models": 0}, {"seed": -1}, {"proportion": 1.0}, {"law": "foo"},
    {"files": ["labels.npz"]}, {"files": {"../labels.npz": "1" * 64}}, {"files": {"/tmp/x": "1" * 64}},
    {"files": {".": "1" * 64}}, {"files": {"": "1" * 64}}, {"function": 3},
), ids=str)  # fmt: skip
def test_what_is_unknown_or_wrong_is_no_job(changes):
    with pytest.raises(ValueError, match=r"no job of `train --function`|validation error"):
        FunctionJob.of_json(JOB.as_json() | changes)


@pytest.mark.parametrize(
    ("n_models", "size"), ((1, 1), (300, 1), (1999, 1), (2000, 2), (12_000, 12), (64_000, 64), (300_000, 64))
)
def test_a_kill_costs_a_thousandth_or_64_models(n_models, size):
    """By the number of models alone, so that shards agree about it."""
    assert replace(JOB, n_models=n_models, seed=9).batch(n_models, 512) == size
    assert JOB.batch(n_models, 8) == min(size, 8)


def test_outcomes_are_kept_as_they_are():
    outcomes = np.array([[1.23456789e30]], np.float32)
    np.testing.assert_array_equal(JOB.kept(outcomes), outcomes)
