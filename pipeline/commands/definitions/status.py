"""`datamodels-inf status`: what is cached and what would run."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.options import status_options, with_options


@click.command()
@with_options(status_options)
def status(**options: Any) -> None:
    """List the stages: key, size, age, and what would run and why."""
    from pipeline.commands.status import status_lines

    for line in status_lines(pipeline_of(**options)):
        echo(line)
