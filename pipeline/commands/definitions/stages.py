"""`datamodels-inf run`, `download`, `fit` and `test`: the stages up to one of them."""

from __future__ import annotations

from typing import Any

import click

from pipeline.commands.definitions.shared import pipeline_of
from pipeline.help_pages import HelpedCommand
from pipeline.options import common_options, download_options, stage_options, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Do it all: bring the data, fit, test, write the report.",
    examples=(
        "datamodels-inf run  # 12,000 small models that ship; fetches nothing",
        "datamodels-inf run --set test.method=contrast --set test.alpha=0.1",
        "datamodels-inf run --config cifar10-free --dry-run",
        "datamodels-inf run --config my-models.toml --cluster local:2",
    ),
)
@with_options(common_options("report"))
def run(**options: Any) -> None:
    """Run a whole analysis: bring the data, fit, test, and write the report.

    What is cached is not run again, and a run that was stopped goes on. The page is REPORTS/NAME/index.html.
    """
    pipeline_of(**options).run("report")


@click.command(
    cls=HelpedCommand,
    short_help="Stage 1: bring masks, outcomes and images into the store.",
    examples=("datamodels-inf download", "datamodels-inf download --config cifar10 --dry-run"),
)
@with_options(download_options)
def download(**options: Any) -> None:
    """Bring masks, outcomes and images into the store: stage 1.

    From S3 it says first what that costs, and asks. A download that was stopped goes on.
    """
    pipeline_of(**options).run("download")


@click.command(
    cls=HelpedCommand,
    short_help="Stages 1 and 2: fit a datamodel of each target, or load them.",
    examples=("datamodels-inf fit", "datamodels-inf fit --set 'fit.targets=[0, 3, 13]'"),
)
@with_options(stage_options("fit"))
def fit(**options: Any) -> None:
    """Fit a datamodel of each target, or load them from a file: stages 1 and 2.

    What is cached is not run again.
    """
    pipeline_of(**options).run("fit")


@click.command(
    cls=HelpedCommand,
    short_help="Stages 1 to 3: test the pairs of the design.",
    examples=("datamodels-inf test", 'datamodels-inf test --set test.method=\'["swap", "contrast"]\''),
)
@with_options(stage_options("test"))
def test(**options: Any) -> None:
    """Test pairs of training images on the held-out models: stages 1 to 3.

    Which pairs is said by test.design. What is cached is not run again.
    """
    pipeline_of(**options).run("test")
