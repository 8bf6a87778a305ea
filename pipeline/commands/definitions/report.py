"""`datamodels-inf report`: the stages up to the report, and the page in a browser."""

from __future__ import annotations

from typing import Any

import click

from pipeline.closed_pipe import echo
from pipeline.commands.definitions.shared import pipeline_of
from pipeline.help_pages import HelpedCommand
from pipeline.options import common_options, option, with_options


@click.command(
    cls=HelpedCommand,
    short_help="Stages 1 to 4: as `run`; it can open the page.",
    examples=("datamodels-inf report --open",),
)
@with_options(common_options("report"))
@option("--open", "show", is_flag=True, help="Open the page in a browser.")
def report(show: bool, **options: Any) -> None:
    """Correct for many tests and write the report: stages 1 to 4, as `run` does.

    What is cached is not run again.
    """
    import webbrowser

    pipeline = pipeline_of(**options)
    pipeline.run("report")
    page = (pipeline.home / "index.html").resolve()
    if show and not webbrowser.open(page.as_uri()):
        echo(f"no browser was found; open {page}")
