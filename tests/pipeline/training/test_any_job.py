"""A manifest's job is that of networks or of a function."""

import pytest

from datamodels_inf.training.recipe import Recipe
from pipeline.training.any_job import job_of_json
from pipeline.training.function_job import FunctionJob
from pipeline.training.job import Job

NETWORKS = Job("digits", 40, 20, "0" * 64, 1100, Recipe(hidden=4), 3, 0.5, "fixed-size")
FUNCTION = FunctionJob("mine:train_one", "0" * 64, 40, 5, 300, 3, 0.5, "fixed-size", {})


@pytest.mark.parametrize("job", (NETWORKS, FUNCTION), ids=("networks", "function"))
def test_each_reads_back(job):
    assert job_of_json(job.as_json()) == job


@pytest.mark.parametrize("found", (None, [1], {}, {"function": "a:b"}, {**NETWORKS.as_json(), "function": "a:b"}))
def test_what_is_neither_is_refused(found):
    with pytest.raises(ValueError, match=r"no job|validation error"):
        job_of_json(found)
