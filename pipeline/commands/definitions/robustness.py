"""`datamodels-inf robustness`: a finding, or a pair, again with look-alikes."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.errors import BadInputError
from pipeline.options import OneOf, methods, stage_options, with_options


@click.command()
@with_options(stage_options)
@click.option("--finding", type=click.IntRange(min=1), help="Its number among the findings of the method; default 1.")
@click.option("--pair", nargs=2, metavar="I J", help="Two training images, by number or as class:position.")
@click.option("--targets", help="Targets to test on, separated by commas.")
@click.option("--n-targets", type=click.IntRange(min=1), help="Or how many to choose.  [default: 5]")
@click.option("--neighbours", type=click.IntRange(min=1), help="Look-alikes of each image.  [default: 5]")
@click.option("--metric", type=click.Choice(["pixels", "features", "influence"]), help="[default: pixels]")
@click.option("--embeddings", type=click.Path(), help="Features of your own: .npy, a row for each training image.")
@click.option("--method", type=OneOf(methods))
@click.option("--split", is_flag=True, help="Find on one half of the held-out models, test again on the other.")
def robustness(
    overrides: tuple[str, ...],
    finding: int | None,
    pair: tuple[str, str] | None,
    targets: str | None,
    split: bool,
    **options: Any,
) -> None:
    """Test a finding, or any pair, again with look-alikes of its images, beside controls (the paper's Table 2)."""
    from pipeline.commands.robustness import robustness_lines

    if pair and finding:
        raise BadInputError("--finding and --pair cannot both be given.")
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
