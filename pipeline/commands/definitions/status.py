"""`datamodels-inf status`: what is cached and what would run."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.options import status_options, with_options


@click.command()
@with_options(status_options)
@click.option("--verify", is_flag=True, help="Hash every file of the store, and name those that are damaged.")
def status(*, verify: bool, **options: Any) -> None:
    """List the stages: key, size, age, and what would run and why. With --verify, hash everything in the store."""
    from pipeline.commands.status import status_lines
    from pipeline.commands.whole_store import verified_lines

    pipeline = pipeline_of(**options)
    for line in verified_lines(pipeline) if verify else status_lines(pipeline):
        echo(line)
