"""What `datamodels-inf panel` does: draw findings of a finished report, as its own panels are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.published import add_to_list, holds_page, publishing
from pipeline.report.content import Content
from pipeline.report.evidence.curves import curves_of
from pipeline.report.output.panels import draw_panel
from pipeline.report.rows import Numbered, stem_of
from pipeline.report.sections.findings import panel_path
from pipeline.report.work import silent
from pipeline.run import Pipeline, needed_by
from pipeline.stages import STAGES, Run
from pipeline.stages.report.content import content_of
from pipeline.stages.report.decided import read_groups
from pipeline.stages.report.evidence import held_out_of
from pipeline.store.cache import Result
from pipeline.store.files import make_folder, whole_file
from pipeline.summaries import ReportSummary, TestSummary, read_summary
from pipeline.text.json_file import read_json
from pipeline.text.numbers import are_counted


def draw_panels(pipeline: Pipeline, names: Sequence[str], out: Path | None, command: str) -> Iterator[Path]:
    """Draw the findings of these names, each once, and yield the path of each picture.

    out: the folder for them; None is that of the panels of the published report. command: what makes the report where
    it is not in the store.
    """
    found = pipeline.finished(needed_by("report"), command)
    result = found["report"]
    asked = _asked(names, read_summary(result, ReportSummary).n_findings)
    folder = _folder(pipeline, result, out, command)
    content, items, bar_end = _content(pipeline, found, asked)
    with publishing(pipeline.home) if out is None else nullcontext():
        for item in items:
            path = folder / Path(panel_path(item)).name
            with whole_file(path) as temporary:
                draw_panel(temporary, item, content, bar_end)
            yield path
        if out is None:
            add_to_list(pipeline.home, [panel_path(item) for item in items])


MOST_DIGITS = 18


def _asked(names: Sequence[str], n_findings: Mapping[str, int]) -> dict[str, list[int]]:
    """Method → numbers of its findings, each once, in the order in which they are asked for."""
    methods = {stem_of(method): method for method in n_findings}
    asked: dict[str, list[int]] = {}
    for name in dict.fromkeys(names):
        stem, _, number = name.rpartition("-")
        if not stem and len(methods) == 1:
            stem = next(iter(methods))
        if stem not in methods or not number.isdecimal():
            raise BadInputError(
                f"--finding {name} is no name of a finding: it is METHOD-NUMBER, such as {next(iter(methods))}-1; "
                f"this report has {', '.join(f'{count:,} by {method}' for method, count in n_findings.items())}."
            )
        method, count = methods[stem], n_findings[methods[stem]]
        if len(number) > MOST_DIGITS or not 1 <= int(number) <= count:
            raise BadInputError(f"--finding {name}: there {are_counted(count, 'finding')} by {method}.")
        if int(number) not in asked.setdefault(method, []):
            asked[method].append(int(number))
    return asked


def _folder(pipeline: Pipeline, result: Result, out: Path | None, command: str) -> Path:
    if out is not None:
        make_folder(out, "--out")
        return out
    if not holds_page(pipeline.home, result):
        raise BadInputError(
            f"{pipeline.home} does not hold this report, so the picture has no place there; publish it by: {command}, "
            "or name a folder with --out."
        )
    folder = pipeline.home / "panels"
    folder.mkdir(exist_ok=True)
    return folder


def _content(
    pipeline: Pipeline, found: dict[str, Result], asked: dict[str, list[int]]
) -> tuple[Content, list[Numbered], float]:
    """What the pictures show; the tests of the methods that are asked for, corrected again."""
    inputs = {name: found[name] for name in STAGES["report"].inputs if name in found}
    run = Run(
        config=pipeline.config,
        inputs=inputs,
        out=pipeline.store.root,
        unfinished=pipeline.store.root,
        store=pipeline.store.root,
        threads=pipeline.threads,
        quiet=pipeline.quiet,
        say=pipeline.say,
        confirm=pipeline.confirm,
        dry_run=True,
        command=pipeline.command,
    )
    test = read_summary(inputs["test"], TestSummary)
    decided = read_groups(run, test, list(asked), silent)
    items = [item for group in decided.groups for item in group.numbered(asked[group.method])]
    with progress_bar(len(items), "panel", "panel", run.quiet) as advance:
        curves = curves_of([item.row for item in items], held_out_of(run), lambda part, done: advance(done))
    told = read_json(found["report"].folder / "report.json")
    return content_of(run, decided, {"curves": curves}), items, float(told["bar_end"])
