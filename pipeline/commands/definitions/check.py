"""`datamodels-inf check`: what a configuration would do, before anything runs."""

from __future__ import annotations

import shlex

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import config_words
from pipeline.options import config_options, with_options


@click.command()
@with_options(config_options)
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def check(config_name: str, overrides: tuple[str, ...], verbose: bool) -> None:
    """Say what a configuration would read and test, and whether it can, before anything runs. Writes nothing."""
    from pipeline.commands.check import check_lines
    from pipeline.config_files import load_config

    for line in check_lines(load_config(config_name, overrides), shlex.join(config_words(config_name, overrides))):
        echo(line)
