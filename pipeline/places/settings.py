"""The section `[cluster]`: which workers make the units of work. It enters no key: results do not depend on it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, model_validator

from pipeline.settings.base import Few, Section

LOCAL = re.compile(r"local:([1-9]\d*)")
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://\S+:\d+")
SLURM = "slurm"
FORMS = '"tcp://host:port" of a Dask scheduler, "local:N" for N processes of this machine, or "slurm"'


class ClusterSettings(Section):
    """Which workers make the units of work, if not this process alone. It changes no result."""

    address: str | None = None
    """The "tcp://host:port" of a Dask scheduler, "local:N" for N processes of this machine, or "slurm". Unset: no
    workers."""
    jobs: Few = 1
    """With address "slurm": jobs to submit."""
    slurm: dict[str, Any] = Field(default_factory=dict)
    """With address "slurm": what dask-jobqueue is given, at least cores and memory of a job."""
    in_flight: Few = 2
    """Units for each worker that are made or wait there."""
    patience: Annotated[float, Field(gt=0, le=1e9)] = 60.0
    """Seconds to wait for a first worker, or for another when all have gone; jobs in a queue are waited for longer."""

    @model_validator(mode="after")
    def _can_be_reached(self) -> ClusterSettings:
        address = self.address
        if address is None:
            return self
        if address != SLURM and not LOCAL.fullmatch(address) and not ADDRESS.fullmatch(address):
            raise ValueError(f"cluster.address = {address!r}: it must be {FORMS}")
        if address == SLURM and not {"cores", "memory"} <= self.slurm.keys():
            raise ValueError(
                "cluster.address 'slurm' needs cluster.slurm with at least cores and memory of a job, as dask-jobqueue "
                "takes them"
            )
        return self
