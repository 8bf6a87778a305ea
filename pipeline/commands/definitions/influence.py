"""`datamodels-inf influence`: single training images, from a finished atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import making_command, pipeline_of
from pipeline.errors import BadInputError
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, result_options, with_options

if TYPE_CHECKING:
    from pipeline.commands.estimated import Estimated

TOP = 20


def _estimated(config_name: str, overrides: tuple[str, ...], store: Path) -> Estimated:
    from pipeline.commands.estimated import Estimated

    return Estimated.of(
        pipeline_of(config_name, overrides, store), making_command("run", config_name, overrides, store)
    )


@click.command(
    cls=HelpedCommand,
    short_help="Print how much single training images help or hurt.",
    examples=(
        "datamodels-inf run  # first, once",
        "datamodels-inf influence --target 84",
        "datamodels-inf influence --image 5 --top 3",
    ),
)
@with_options(result_options)
@option("--target", metavar="T", help="The images that help and hurt this target most; number, class:position or name.")
@option(
    "--image",
    metavar="I",
    help="The targets that this training image helps and hurts most; with --target: its influence there.",
)
@option("--top", type=click.IntRange(min=1), metavar="N", help=f"N that help, and N that hurt.  [default: {TOP}]")
@option("--csv", "as_csv", is_flag=True, help="As CSV.")
def influence(
    config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool, target: str | None, image: str | None,
    top: int | None, as_csv: bool,
) -> None:  # fmt: skip
    """Print how much single training images help or hurt a target, with intervals and ranks.

    Give --target, --image, or both. Reads the atlas that `run` makes where atlas.targets is set, and runs nothing.
    """
    if target is None and image is None:
        raise BadInputError("name a target, a training image, or both: --target 84, --image 5.")
    if target is not None and image is not None and top is not None:
        raise BadInputError("--top is for a target or a training image; with both, there is one influence to print.")
    from pipeline.commands.influence import influence_lines

    estimated = _estimated(config_name, overrides, store)
    for line in influence_lines(estimated, target=target, image=image, top=top or TOP, as_csv=as_csv):
        echo(line)
