"""Options that several commands share, and names that are looked up in tables only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.completion.known_names import known_names
from pipeline.completion.words import ClusterAddress, Configuration, Folder, Items, Setting
from pipeline.help_pages import HOW, WHICH, HelpedOption


class OneOf(click.ParamType[str]):
    """One of the names of a table, which is imported only when they are needed: that takes time.

    table: what it is called where names are written down for shells (`completion.known_names`).
    """

    name = "name"

    def __init__(self, names: Callable[[], Sequence[str]], table: str = "") -> None:
        self.names = names
        self.table = table or getattr(names, "__name__", "")

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What the help page shows for a value: "[swap|paired]"."""
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`value` itself; a usage error if the table does not have it."""
        if value not in self.names():
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names()))}.", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Those that begin so, as they are written down."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in known_names(self.table) if name.startswith(incomplete)]


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


def stages_for(*last: str) -> list[str]:
    """The names of STAGES that some of them need, and their own."""
    from pipeline.run import needed_by
    from pipeline.stages import STAGES

    needed = set[str]().union(*map(needed_by, last))
    return [name for name in STAGES if name in needed]


option = partial(click.option, cls=HelpedOption)
"""An option of a command's own."""
_which = partial(option, heading=WHICH)
_how = partial(option, heading=HOW)

config_option = partial(_which, "--config", "config_name", metavar="NAME|FILE", type=Configuration())
set_option = partial(_which, "--set", "overrides", metavar="SECTION.KEY=VALUE", multiple=True, type=Setting())
config_options = (
    config_option(
        default="digits", show_default=True, help="A configuration of `datamodels-inf config list`, or a TOML file."
    ),
    set_option(help="Change one setting of it, or unset it: SECTION.KEY=. Repeatable."),
)
threads_option = _how(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Default: the cores that this process may use. Changes no result.",
)
cluster_option = _how(
    "--cluster",
    metavar="ADDRESS",
    type=ClusterAddress(),
    help="Workers that do the work: tcp://HOST:PORT of a Dask scheduler, local:N, or slurm. Changes no result.",
)
store_option = partial(
    _which,
    "--store",
    type=Folder(),
    metavar="DIR",
    default=Path("data"),
    show_default=True,
    help="Cache of everything that was fetched or computed.",
)
quiet_option = partial(_how, "--quiet", is_flag=True)
verbose_option = _how("--verbose", is_flag=True, help="If it fails, show where in the code.")
_reports = _which(
    "--reports",
    type=Folder(),
    metavar="DIR",
    default=Path("reports"),
    show_default=True,
    help="Each report is published here, in a folder of its name.",
)
_work = (
    threads_option,
    _how("--yes", is_flag=True, help="Do not ask before a download that costs money."),
    _how(
        "--dry-run",
        is_flag=True,
        help="Say what would be fetched, or trained anew, and stop before it.",
    ),
    quiet_option(help="No progress bars, no stage lines."),
    verbose_option,
)


def _force(*last: str) -> Callable[[Any], Any]:
    return _how(
        "--force",
        multiple=True,
        metavar="STAGE",
        type=OneOf(partial(stages_for, *last), f"stages of {' and '.join(last)}"),
        help="Run STAGE again though it is cached. Repeatable.",
    )


def common_options(*last: str) -> tuple[Callable[[Any], Any], ...]:
    """Of commands that run stages up to `last`, which is published."""
    return (*config_options, store_option(), _reports, _force(*last), cluster_option, *_work)


def stage_options(*last: str) -> tuple[Callable[[Any], Any], ...]:
    """Of commands that run stages up to `last` and publish nothing."""
    return (*config_options, store_option(), _force(*last), cluster_option, *_work)


download_options = (*config_options, store_option(), _force("download"), *_work)
"""Of the command that brings data."""

status_options = (*config_options, store_option(), _reports, verbose_option)
"""Of what looks at stages and runs none."""

result_options = (*config_options, store_option(), verbose_option)
"""Of commands that read what is finished."""


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """The same options on several commands."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(options):
            function = decorator(function)
        return function

    return decorate
