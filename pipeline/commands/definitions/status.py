"""`datamodels-inf status`: what is cached and what would run."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, status_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="List the stages: what is cached, what would run, and why.",
    examples=("datamodels-inf status", "datamodels-inf status --verify"),
)
@with_options(status_options)
@option("--verify", is_flag=True, help="Instead, hash every file of the store, and name those that are damaged.")
def status(*, verify: bool, **options: Any) -> None:
    """List the stages: what is cached, with key, size and age, and what would run and why.

    Runs nothing.
    """
    from pipeline.commands.status import status_lines
    from pipeline.commands.whole_store import verified_lines

    pipeline = pipeline_of(**options)
    for line in verified_lines(pipeline) if verify else status_lines(pipeline):
        echo(line)
