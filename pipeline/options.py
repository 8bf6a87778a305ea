"""Options that several commands share, and names that are looked up in tables only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click


class OneOf(click.ParamType[str]):
    """One of the names of a table, which is imported only when they are needed: that takes time."""

    name = "name"

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self.names = names

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What the help page shows for a value: "[swap|paired]"."""
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`value` itself; a usage error if the table does not have it."""
        if value not in self.names():
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names()))}.", param, ctx)
        return value


class HeadedOption(click.Option):
    """An option that the help page of a `HeadedCommand` lists under a heading."""

    def __init__(self, *arguments: Any, heading: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.heading = heading


class HeadedCommand(click.Command):
    """A command with many options, listed under headings; those without one come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each heading with its options, in the order of the options."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None:
                headings.setdefault(getattr(option, "heading", "Other options"), []).append(record)
        for heading, records in headings.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def importers() -> list[str]:
    """The names of IMPORTERS."""
    from pipeline.sources.imports import IMPORTERS

    return list(IMPORTERS)


def methods() -> list[str]:
    """The names of METHODS."""
    from datamodels_inf.methods import METHODS

    return list(METHODS)


def corrections_without_prior() -> list[str]:
    """The names of CORRECTIONS that need no prior."""
    from datamodels_inf.refereeing.verdicts import WITHOUT_PRIOR

    return list(WITHOUT_PRIOR)


def networks() -> list[str]:
    """The names of NETWORKS."""
    from datamodels_inf.training import NETWORKS

    return list(NETWORKS)


def stages() -> list[str]:
    """The names of STAGES."""
    from pipeline.stages import STAGES

    return list(STAGES)


config_options = (
    click.option(
        "--config", "config_name", default="digits", show_default=True, help="A name, or a path to a TOML file."
    ),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="SECTION.KEY=VALUE",
        help="Change one setting; no value unsets it. Repeatable.",
    ),
)
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=None,
    help="Default: the cores that this process may use. Changes no result.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Workers that do the work: tcp://HOST:PORT of a Dask scheduler, local:N, or slurm. Changes no result.",
)
_folder = partial(click.option, type=click.Path(path_type=Path), show_default=True)
_store = _folder("--store", default=Path("data"), help="Cache.")
_reports = _folder("--reports", default=Path("reports"), help="Each report is published in a folder of its name.")
_force = click.option("--force", multiple=True, type=OneOf(stages), help="Run a stage though it is cached.")
_work = (
    threads_option,
    click.option("--yes", is_flag=True, help="Do not ask before a download that costs money."),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Stop before anything is fetched or fresh models are trained, after saying what would be.",
    ),
    click.option("--quiet", is_flag=True, help="No progress bars, no stage lines."),
)
_verbose = click.option("--verbose", is_flag=True, help="A traceback with a failure.")

common_options = (*config_options, _store, _reports, _force, cluster_option, *_work, _verbose)
"""Of commands that run stages up to one that is published."""

download_options = (*config_options, _store, _force, *_work, _verbose)
"""Of the command that brings data."""

stage_options = (*config_options, _store, _force, cluster_option, *_work, _verbose)
"""Of commands that run stages and publish nothing."""

status_options = (*config_options, _store, _reports, _verbose)
"""Of what looks at stages and runs none."""

result_options = (*config_options, _store, _verbose)
"""Of commands that read what is finished."""


def with_options(options: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    """The same options on several commands."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
