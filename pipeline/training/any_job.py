"""Jobs of all kinds: networks of ours, and functions of the user's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from pipeline.training.function_job import FunctionJob
from pipeline.training.job import Job

AnyJob: TypeAlias = Job | FunctionJob


def job_of_json(found: Any) -> AnyJob:
    """From a manifest; else a ValueError."""
    if not isinstance(found, Mapping):
        raise ValueError("it is no job of `train`")
    return FunctionJob.of_json(found) if "function" in found else Job.of_json(found)


def words_of(job: AnyJob) -> str:
    """By which a job is known from another: as it is read from a note, without what it does not have."""
    noted = job_of_json(json.loads(json.dumps(job.as_json()))).as_json()
    return json.dumps({name: value for name, value in noted.items() if value is not None}, sort_keys=True)
