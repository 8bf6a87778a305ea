"""What a stage is, and what it is given when it runs: the contract between the stages and `pipeline.run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from datamodels_inf.internal.cores import available_cores
from pipeline.config import Config
from pipeline.places.base import InProcess, Place
from pipeline.places.processes import Processes
from pipeline.stages.inputs import Data, Fitted
from pipeline.store.cache import Result
from pipeline.summaries import Summary, read_summary
from pipeline.text.own_paths import shareable

S = TypeVar("S", bound=Summary)


@dataclass(frozen=True, eq=False)
class Run:
    """One run of one stage.

    inputs: the results of the stages it reads. out: the folder to fill. unfinished: a folder that outlives a kill, for
    finished steps. store: the root of all results. threads: None is as many as there are cores. say: a line to the
    user. confirm, dry_run: before what costs money. command: what makes the whole run again. cluster: workers that make
    its units of work; None: this machine does.
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
    cluster: Place | None = None

    @cached_property
    def data(self) -> Data:
        """What the download stage left."""
        return Data.of(self.inputs["download"], self.config)

    @cached_property
    def fitted(self) -> Fitted:
        """What the fit stage left."""
        return Fitted.of(self.inputs["fit"])

    @property
    def n_threads(self) -> int:
        """`threads`, or the cores that this process may use."""
        return self.threads or available_cores()

    @property
    def place(self) -> Place:
        """Where units are made that use threads."""
        return self.cluster or InProcess(self.n_threads)

    @property
    def training_place(self) -> Place:
        """Where models are trained, each by one thread."""
        return self.cluster or Processes(self.n_threads)


def _always(config: Config) -> bool:
    return True


def _nothing(config: Config) -> dict[str, Any]:
    return {}


def _never(result: Result, store: Path) -> str:
    return ""


def _no_kernels(config: Config) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Stage(Generic[S]):
    """One stage: its name and what is to be known of it.

    version: raised when its results change. inputs: the stages it reads, as far as they are wanted. summary: the type
    of what it says of its result. run: fills a folder and says it. left_out: which settings do not enter its key, as
    "section" (the stage reads none of it) or "section.name", each with the reason. instead: what enters in their place,
    such as the content of a file for its path. wanted: whether a configuration has this stage at all. published: its
    files are copied to where the user looks for reports, into the folder of the report's name and `suffix`. stale: why
    a result, though intact, is made again, given the store's folder; nothing if it is not. unread: files of its inputs
    that it does not read, and that may come later. ahead: refuses what can be seen to be wrong before hours of work:
    called before any stage runs, and again with what the download stage left. kernels: the compiled loops that it
    calls (`datamodels_inf.kernels.ahead`): in a new installation they are compiled while earlier stages run.
    """

    name: str
    version: int
    inputs: tuple[str, ...]
    summary: type[S]
    run: Callable[[Run], S]
    left_out: Callable[[Config], Mapping[str, str]]
    instead: Callable[[Config], dict[str, Any]] = _nothing
    wanted: Callable[[Config], bool] = _always
    published: bool = False
    suffix: str = ""
    stale: Callable[[Result, Path], str] = _never
    unread: tuple[str, ...] = ()
    ahead: Callable[[Config, Data | None], None] | None = None
    kernels: Callable[[Config], Sequence[str]] = _no_kernels

    def settings(self, config: Config) -> dict[str, Any]:
        """What its key depends on, beside its version and inputs: all settings that are not left out.

        So a new setting enters every key until somebody says why it need not. Passwords and signatures do not: the same
        file under a renewed address is the same file, and settings stand in manifests.
        """
        settings: dict[str, Any] = shareable({**all_but(config, self.left_out(config)), **self.instead(config)})
        return settings

    def describe(self, result: Result) -> str:
        """A result of this stage in a few words."""
        return read_summary(result, self.summary).describe()


PICTURES = ("images.npz",)
"""What the download stage adds for the eye: stages that read only labels leave it `unread`."""

APART = {
    "train": "a set is known by its content, however it was made",
    "verify": "only the stages that train fresh models read it, and they add what they read",
    "cluster": "where units of work are made changes no result",
    "referee": "only the referee's stages read it, and they add what they read",
}
"""Sections that do not enter keys by themselves, each with the reason."""


def all_but(config: Config, left_out: Mapping[str, str]) -> dict[str, Any]:
    """ "section.name" → value, of all settings but those left out by name or with their whole section."""
    kept = {
        f"{section}.{name}": value
        for section, values in config.model_dump(mode="json").items()
        if section not in APART
        for name, value in values.items()
    }
    sections = {name.partition(".")[0] for name in kept}
    for name in left_out:
        if name not in kept and name not in sections:
            raise ValueError(f"`left_out` names {name}, which is no setting.")
    return {
        name: value for name, value in kept.items() if name not in left_out and name.partition(".")[0] not in left_out
    }
