"""The report: the tests, their images and the verdict in words, as a page that opens without a network.

`write_report` turns a `Content` into index.html, overview.png, findings.csv, tests.csv, datamodels.csv, report.json and
panels/<method>-<number>.png, with re-runs also reruns.csv and robustness.png. The same content gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pipeline.report.content import Content, DatamodelQuality, Images
from pipeline.report.evidence.limits import limits_of
from pipeline.report.output.csv_files import write_datamodels, write_reruns, write_table
from pipeline.report.output.json_file import json_of
from pipeline.report.output.page import page_of, panel_scale
from pipeline.report.output.panels import draw_overview, draw_panel
from pipeline.report.output.robustness_picture import draw_robustness
from pipeline.report.rows import COLUMNS, Row, groups_of
from pipeline.store.files import whole_file

__all__ = ["COLUMNS", "Content", "DatamodelQuality", "Images", "Row", "write_report"]


def write_report(folder: Path, content: Content, progress: Callable[[int], object] | None = None) -> list[Path]:
    """Write everything into the existing empty folder; return the paths written.

    `progress(1)` is called after each panel. The page comes last: where it stands, the report is complete.
    """
    if not folder.is_dir() or any(folder.iterdir()):
        raise ValueError(f"`folder` must be an existing empty folder, but {folder} is not.")
    groups = groups_of(content.rows)
    limit = panel_scale(groups, content.max_panels)
    limits = {group.method: limits_of(group, content) for group in groups}
    findings = [finding.row for group in groups for finding in group.findings]
    writers: dict[Path, Callable[[Path], object]] = {
        folder / "tests.csv": partial(write_table, rows=content.rows),
        folder / "findings.csv": partial(write_table, rows=findings),
        folder / "overview.png": partial(draw_overview, groups=groups, content=content),
        folder / "report.json": lambda path: _write_text(path, json_of(content, groups, limits)),
    }
    if content.quality is not None:
        writers[folder / "datamodels.csv"] = partial(write_datamodels, quality=content.quality)
    if content.robustness is not None:
        writers[folder / "reruns.csv"] = partial(write_reruns, robustness=content.robustness)
        writers[folder / "robustness.png"] = partial(draw_robustness, content=content)
    for finding in (item for group in groups for item in group.findings[: content.max_panels]):
        path = folder / "panels" / f"{finding.stem}-{finding.number:03d}.png"
        path.parent.mkdir(exist_ok=True)
        writers[path] = partial(draw_panel, finding=finding, content=content, limit=limit)
    writers[folder / "index.html"] = lambda path: _write_text(path, page_of(content, groups, limits))
    for path, write in writers.items():
        with whole_file(path) as temporary:
            write(temporary)
        if progress is not None and path.parent != folder:
            progress(1)
    return list(writers)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
