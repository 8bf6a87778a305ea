"""`datamodels-inf robustness`: a finding, or a pair, again with look-alikes."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.errors import BadInputError
from pipeline.help_pages import HelpedCommand
from pipeline.options import OneOf, methods, option, stage_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Test a finding again with images that look alike.",
    examples=(
        "datamodels-inf robustness --finding 1",
        "datamodels-inf robustness --pair 12 7 --targets 0,4",
        "datamodels-inf robustness --finding 1 --split",
    ),
)
@with_options(stage_options("robustness"))
@option("--finding", type=click.IntRange(min=1), metavar="N", help="Its number among those of the test.  [default: 1]")
@option("--pair", nargs=2, metavar="I J", help="Or two training images, by number or as class:position.")
@option("--targets", metavar="T,T,…", help="Targets to test on, by number.")
@option("--n-targets", type=click.IntRange(min=1), metavar="N", help="Or how many to choose.  [default: 5]")
@option("--neighbours", type=click.IntRange(min=1), metavar="N", help="Look-alikes of each image.  [default: 5]")
@option(
    "--metric",
    type=click.Choice(["pixels", "features", "influence"]),
    help="By what images look alike.  [default: pixels, or features with --embeddings]",
)
@option(
    "--embeddings",
    type=click.Path(),
    metavar="FILE",
    help="Features of your own: .npy, a row for each training image.",
)
@option("--method", type=OneOf(methods), help="Which test.  [default: the first of test.method]")
@option("--split", is_flag=True, help="Find on one half of the held-out models, test again on the other.")
def robustness(
    overrides: tuple[str, ...],
    finding: int | None,
    pair: tuple[str, str] | None,
    targets: str | None,
    split: bool,
    **options: Any,
) -> None:
    """Test a finding, or any pair, again with look-alikes of its images, beside controls.

    This is the paper's Table 2. The stages that it needs are run first, if they are not cached.
    """
    from pipeline.commands.robustness import robustness_lines

    if pair and finding:
        raise BadInputError("--finding and --pair cannot both be given.")
    if targets and options["n_targets"]:
        raise BadInputError("--targets and --n-targets cannot both be given.")
    asked: dict[str, Any] = {
        name: options.pop(name) for name in ("n_targets", "neighbours", "metric", "embeddings", "method")
    }
    asked |= {"targets": f"[{targets}]" if targets else None, "split": "true" if split else None}
    asked |= {"pair": [int(i) if i.isdecimal() else i for i in pair]} if pair else {"findings": [finding or 1]}
    asked["metric"] = asked["metric"] or ("features" if asked["embeddings"] else None)
    own = tuple(f"robustness.{name}={value}" for name, value in asked.items() if value is not None)
    made = pipeline_of(overrides=(*overrides, *own), **options).run("robustness")
    for line in robustness_lines(made):
        echo(line)
