"""What a stage is, and what it is given when it runs: the contract between the stages and `pipeline.run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.config import Config
from pipeline.stages.inputs import Data, Fitted
from pipeline.store.cache import Result


@dataclass(frozen=True, eq=False)
class Run:
    """One run of one stage.

    inputs: the results of the stages it reads. out: the folder to fill. unfinished: a folder that outlives a kill, for
    finished steps. store: the root of all results. threads: None is as many as there are cores. say: a line to the
    user. confirm, dry_run: before what costs money. command: what makes the whole run again.
    """

    config: Config
    inputs: Mapping[str, Result]
    out: Path
    unfinished: Path
    store: Path
    threads: int | None
    quiet: bool
    say: Callable[[str], object]
    confirm: Callable[[str], bool]
    dry_run: bool
    command: str

    @cached_property
    def data(self) -> Data:
        """What the download stage left."""
        return Data.of(self.inputs["download"])

    @cached_property
    def fitted(self) -> Fitted:
        """What the fit stage left."""
        return Fitted.of(self.inputs["fit"])

    @property
    def n_threads(self) -> int:
        return self.threads or os.cpu_count() or 1


def _always(config: Config) -> bool:
    return True


@dataclass(frozen=True)
class Stage:
    """One stage: its name and what is to be known of it.

    version: raised when its results change. inputs: the stages it reads, as far as they are wanted. settings: what its
    key depends on beside these. run: fills a folder and returns a summary. describe: that summary in a few words.
    wanted: whether a configuration has this stage at all. help: of its command, if it has one.
    """

    name: str
    version: int
    inputs: tuple[str, ...]
    settings: Callable[[Config], dict[str, Any]]
    run: Callable[[Run], dict[str, Any]]
    describe: Callable[[Mapping[str, Any]], str]
    wanted: Callable[[Config], bool] = _always
