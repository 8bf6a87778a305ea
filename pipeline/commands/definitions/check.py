"""`datamodels-inf check`: what a configuration would do, before anything runs."""

from __future__ import annotations

import shlex

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import config_words
from pipeline.help_pages import HelpedCommand
from pipeline.options import config_options, verbose_option, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Say what a configuration would read and test, before it runs.",
    examples=("datamodels-inf check", "datamodels-inf check --config digits --set test.tau=0.1"),
)
@with_options((*config_options, verbose_option))
def check(config_name: str, overrides: tuple[str, ...], verbose: bool) -> None:
    """Say what a configuration would read and test, and whether it can, before anything runs.

    Writes nothing.
    """
    from pipeline.commands.check import check_lines
    from pipeline.config_files import load_config

    for line in check_lines(load_config(config_name, overrides), shlex.join(config_words(config_name, overrides))):
        echo(line)
