"""Jobs of all kinds: networks of ours, and functions of the user's."""

from __future__ import annotations

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
