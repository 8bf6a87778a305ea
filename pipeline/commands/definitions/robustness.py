"""`datamodels-inf robustness`: a finding, or a pair, again with look-alikes."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
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
@option("--finding", type=click.IntRange(min=1), metavar="N", help="Its number.  [default: 1, or as in [robustness]]")
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
def robustness(config_name: str, overrides: tuple[str, ...], **options: Any) -> None:
    """Test a finding, or any pair, again with look-alikes of its images, beside controls.

    This is the paper's Table 2. The stages that it needs are run first, if they are not cached.
    """
    from pipeline.commands.robustness import QUESTION, asked_settings, robustness_lines

    asked = {name: options.pop(name) for name in QUESTION}
    settings = asked_settings(config_name, overrides, asked)
    for line in robustness_lines(pipeline_of(config_name, settings, **options).run("robustness")):
        echo(line)
