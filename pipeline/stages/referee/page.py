"""The referee's page: published beside the report, in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.config import Config
from pipeline.stages.base import Run, Stage
from pipeline.stages.referee.stage import CONTRADICTIONS, PAIRS, wanted
from pipeline.store.cache import Result
from pipeline.store.tables import read_columns
from pipeline.summaries import RefereePageSummary, RefereeSummary, read_summary
from pipeline.text.own_paths import command_in_report
from pipeline.text.referee_words import headline

VERSION = 2
NAME = "referee-page"


def left_out(config: Config) -> dict[str, str]:
    """Of `[report]`, the title enters."""
    return {
        "source": "the key of the download stage holds it",
        **dict.fromkeys(("fit", "test"), "the key of the referee stage holds what depends on it"),
        **dict.fromkeys(("atlas", "robustness"), "the page does not show it"),
        "report.name": "the name of the folder, not what is in it",
        "report.max_panels": "the page has no panels",
    }


def instead(config: Config) -> dict[str, Any]:
    """What the user says of the scores."""
    return {"referee.unseen": config.referee.unseen} if config.referee.wanted else {}


def run(run: Run) -> RefereePageSummary:
    """Write index.html, three CSV files and referee.json."""
    from pipeline.report.content import Images
    from pipeline.report.referee.content import RefereeContent
    from pipeline.report.referee.page import write_referee

    found, data = run.inputs["referee"], run.data
    summary = read_summary(found, RefereeSummary)
    content = RefereeContent(
        title=run.config.report.title_of(data.noun),
        summary=summary,
        pairs=read_columns(found.folder / PAIRS),
        contradictions=read_columns(found.folder / CONTRADICTIONS),
        images=None if data.images is None else Images(data.images.train, data.images.targets),
        labels=data.labels,
        names=data.names,
        unseen=run.config.referee.unseen,
        awaits_images=data.rows.awaits_images,
        provenance=_provenance(run.inputs, command_in_report(run.command)),
    )
    write_referee(run.out, content)
    return RefereePageSummary(headline=headline(summary))


def _provenance(inputs: Mapping[str, Result], command: str) -> dict[str, str]:
    lines = {"Command": command} if command else {}
    for name, result in inputs.items():
        lines[f"Stage {name}"] = f"{result.manifest['key']}, made {result.manifest['made_at']}"
    versions = inputs["referee"].manifest["versions"]
    return lines | {"Versions": ", ".join(f"{name} {number}" for name, number in versions.items())}


STAGE = Stage(
    NAME, VERSION, ("download", "referee"), RefereePageSummary, run, left_out, instead, wanted, published=True,
    suffix="-referee",
)  # fmt: skip
