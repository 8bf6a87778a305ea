"""`datamodels-inf images`: the images of CIFAR-10 into the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from pipeline.closed_pipe import echo
from pipeline.errors import BadInputError
from pipeline.help_pages import HelpedCommand
from pipeline.options import option, quiet_option, store_option, verbose_option


@click.command(
    cls=HelpedCommand,
    short_help="Fetch the images of CIFAR-10, for data that has none itself.",
    examples=(
        "datamodels-inf images  # from the network",
        "datamodels-inf images --path cifar-10-python.tar.gz",
    ),
)
@option(
    "--path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Your own copy: a cifar-10-batches-py folder, the tar.gz, the npm copy, or a cifar10.npz. Nothing is fetched.",
)
@option("--mirror", "mirrors", multiple=True, metavar="URL", help="Tried before the original host. Repeatable.")
@store_option()
@quiet_option(help="No progress bar, no lines.")
@verbose_option
def images(path: Path | None, mirrors: tuple[str, ...], store: Path, quiet: bool, verbose: bool) -> None:
    """Get the images of CIFAR-10 into the store, for data that has none of its own.

    They are fetched from the first host that has them, or copied from --path, and their checksum is verified.
    """
    if path is not None and mirrors:
        raise BadInputError("--mirror is for images that are fetched; with --path nothing is.")
    from pipeline.images.find import DEFAULT_MIRRORS, get_images

    say: Callable[[str], object] = (lambda line: None) if quiet else echo
    get_images(store / "images", path=path, mirrors=(*mirrors, *DEFAULT_MIRRORS), say=say, quiet=quiet)
