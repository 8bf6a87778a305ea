"""`datamodels-inf completion`: what a shell loads, so that it completes commands, options and settings."""

from __future__ import annotations

import click

from pipeline.closed_pipe import echo
from pipeline.completion.shells import SHELLS, script
from pipeline.help_pages import HelpedCommand


@click.command(
    cls=HelpedCommand,
    short_help="Let your shell complete commands, options and settings.",
    examples=(
        "source <(datamodels-inf completion bash)  # this shell only; zsh also",
        "datamodels-inf completion bash >> ~/.bashrc",
        "datamodels-inf completion zsh >> ~/.zshrc  # below compinit",
        "datamodels-inf completion fish >> ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script with which your shell completes this command line.

    SHELL is bash, zsh or fish. With it the key Tab completes commands, options, configurations (--config), settings
    and their values (--set test.correction=), findings and files.
    """
    for line in script(ctx.find_root().command, shell).splitlines():
        echo(line)
