"""Workers that SLURM starts: jobs of dask-jobqueue for one command, cancelled when it ends."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pipeline.errors import BadInputError
from pipeline.places.interrupts import interrupts_later, same_handler
from pipeline.places.settings import ClusterSettings
from pipeline.text.numbers import counted

SUBMIT = "sbatch"
SCHEDULER = {"dashboard": False, "dashboard_address": ":0"}
"""Its usual port is often taken on a login node."""


@contextmanager
def slurm_cluster(settings: ClusterSettings, install: str, say: Callable[[str], object]) -> Iterator[Any]:
    """A scheduler in this process, and jobs in SLURM's queue. install: the command that brings dask-jobqueue."""
    try:
        with same_handler():
            from dask_jobqueue import SLURMCluster
    except ImportError as error:
        raise BadInputError(f"cluster.address 'slurm' needs dask-jobqueue: {install}.") from error
    if shutil.which(SUBMIT) is None:
        raise BadInputError(f"cluster.address 'slurm' needs {SUBMIT}, which is not here; run it where SLURM is.")
    with interrupts_later():  # Else one would also end sbatch and scancel.
        try:
            cluster = SLURMCluster(**{"scheduler_options": SCHEDULER, **settings.slurm})
        except Exception as error:
            raise BadInputError(f"cluster.slurm is not what dask-jobqueue takes: {_first_words(error)}.") from error
    taken = False
    try:
        _submit(cluster, settings.jobs)
        taken = True
        say(f"asked SLURM for {counted(settings.jobs, 'job')}")
        yield cluster
    finally:
        try:
            cluster.close()
        except Exception as error:
            cluster.shutdown_on_close = False  # It would be tried again, in vain, for ten seconds at the end.
            if taken:  # Else Dask only says once more that it has no job.
                say(f"SLURM's jobs could not be cancelled ({_first_words(error)}); look for them with squeue")


def _submit(cluster: Any, jobs: int) -> None:
    """Until SLURM has taken all of them into its queue."""

    async def submitted() -> None:
        cluster.scale(jobs=jobs)
        await cluster

    try:
        cluster.sync(submitted)
    except Exception as error:
        lines = str(error).split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), type(error).__name__)
        raise BadInputError(f"{SUBMIT} took no job of cluster.slurm: {said.removesuffix('.')}.") from error


def _first_words(error: Exception) -> str:
    """The first sentence, without its full stop."""
    first = next(iter(str(error).splitlines()), "").partition(". ")[0]
    return first.removesuffix(".") or type(error).__name__
