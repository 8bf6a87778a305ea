"""`datamodels-inf report`: the stages up to the report, and the page in a browser."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.options import common_options, with_options


@click.command()
@with_options(common_options)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def report(show: bool, **options: Any) -> None:
    """Stages 1 to 4: correct for multiplicity and write the report."""
    import webbrowser

    pipeline = pipeline_of(**options)
    pipeline.run("report")
    page = (pipeline.home / "index.html").resolve()
    if show and not webbrowser.open(page.as_uri()):
        echo(f"no browser was found; open {page}")
