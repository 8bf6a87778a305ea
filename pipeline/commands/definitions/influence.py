"""`datamodels-inf influence`: single training images, from a finished atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import making_command
from pipeline.errors import BadInputError
from pipeline.options import result_options, with_options

if TYPE_CHECKING:
    from pipeline.commands.estimated import Estimated


def _estimated(config_name: str, overrides: tuple[str, ...], store: Path) -> Estimated:
    from pipeline.commands.estimated import Estimated
    from pipeline.config_files import load_config
    from pipeline.run import Pipeline

    pipeline = Pipeline(load_config(config_name, overrides), store, Path("reports"), origin=Path(config_name).stem)
    return Estimated.of(pipeline, making_command("run", config_name, overrides, store))


@click.command()
@with_options(result_options)
@click.option("--target", metavar="T", help="The images that help and hurt this target most; number or class:position.")
@click.option(
    "--image",
    metavar="I",
    help="The targets that this training image helps and hurts most; with --target: its influence there.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="So many helped, and hurt.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV.")
def influence(
    config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool, target: str | None, image: str | None,
    top: int, as_csv: bool,
) -> None:  # fmt: skip
    """Print the influence of single training images, with intervals and ranks, from a finished atlas. Runs nothing."""
    if target is None and image is None:
        raise BadInputError("name a target, a training image, or both: --target 84, --image 5.")
    from pipeline.commands.influence import influence_lines

    estimated = _estimated(config_name, overrides, store)
    for line in influence_lines(estimated, target=target, image=image, top=top, as_csv=as_csv):
        echo(line)
