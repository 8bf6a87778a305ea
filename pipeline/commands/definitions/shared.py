"""What several commands do with their options: the stages of a configuration, and the words that name it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.closed_pipe import echo
from pipeline.errors import BadInputError
from pipeline.progress import SCREEN

if TYPE_CHECKING:
    from pipeline.commands.tested import Tested
    from pipeline.config import Config
    from pipeline.run import Pipeline


def pipeline_of(
    config_name: str,
    overrides: tuple[str, ...],
    store: Path,
    reports: Path = Path("reports"),
    force: tuple[str, ...] = (),
    threads: int | None = None,
    yes: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    cluster: str | None = None,
) -> Pipeline:
    """The stages of a configuration, as the options of a command that runs or lists them say."""
    from pipeline.config_files import load_config
    from pipeline.run import Pipeline

    config = load_config(config_name, with_cluster(overrides, cluster))
    _refuse_unwanted(config, force)
    return Pipeline(
        config,
        store,
        reports,
        origin=Path(config_name).stem,
        command=reproducing_command(config_name, overrides),
        force=force,
        quiet=quiet,
        threads=threads,
        say=(lambda line: None) if quiet else echo,
        confirm=lambda question: yes or not sys.stdin.isatty() or ask(question),
        dry_run=dry_run,
    )


def _refuse_unwanted(config: Config, force: tuple[str, ...]) -> None:
    """A stage that is to run again, but that this configuration never runs."""
    from pipeline.stages import STAGES

    for name in force:
        if not STAGES[name].wanted(config):
            wanted = ", ".join(stage.name for stage in STAGES.values() if stage.wanted(config))
            raise BadInputError(f"--force {name}: this configuration has no such stage; it has {wanted}.")


def with_cluster(overrides: tuple[str, ...], cluster: str | None) -> tuple[str, ...]:
    """The changes of a configuration, and --cluster as one of them."""
    from pipeline.config_files import literal

    return overrides if cluster is None else (*overrides, f"cluster.address={literal(cluster)}")


def ask(question: str) -> bool:
    """Yes or no, with no bar in the way."""
    with SCREEN.paused():
        return click.confirm(question)


def reproducing_command(config_name: str, overrides: tuple[str, ...], command: str = "run") -> str:
    """What a user types to make the whole run, or the page of another command, again, wherever it is done."""
    kept = tuple(override for override in overrides if not override.strip().startswith("cluster."))
    return shlex.join(["datamodels-inf", command, *config_words(config_name, kept)])


def config_words(config_name: str, overrides: tuple[str, ...]) -> list[str]:
    """The options that name a configuration and its changes."""
    return ["--config", config_name, *(word for override in overrides for word in ("--set", override))]


def tested_of(config_name: str, overrides: tuple[str, ...], store: Path) -> Tested:
    """The finished test stage of a configuration."""
    from datamodels_inf.multiplicity import CORRECTIONS
    from pipeline.commands.tested import Tested

    pipeline = pipeline_of(config_name, overrides, store)
    last = "run" if CORRECTIONS[pipeline.config.test.correction].needs_prior else "test"
    return Tested.of(pipeline, making_command(last, config_name, overrides, store))


def making_command(
    stage: str, config_name: str, overrides: tuple[str, ...], store: Path, reports: Path = Path("reports")
) -> str:
    """What a user types to make what a command reads."""
    there = [] if store == Path("data") else ["--store", str(store)]
    there += [] if reports == Path("reports") else ["--reports", str(reports)]
    return shlex.join(["datamodels-inf", stage, *config_words(config_name, overrides), *there])
