"""Where a report comes from, line by line."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.config import Config
from pipeline.stages.test.premise import spoiled_tests
from pipeline.store.cache import Result
from pipeline.summaries import DownloadSummary, FitSummary, TestSummary, read_summary


def provenance_of(config: Config, inputs: Mapping[str, Result], command: str) -> dict[str, str]:
    """The command, the stages, versions and seed, what was done to the rows, and a warning where one is due."""
    lines = {"Command": command}
    for name, result in inputs.items():
        manifest = result.manifest
        lines[f"Stage {name}"] = f"{manifest['key']}, made {manifest['made_at']} in {manifest['seconds']} s"
    versions = inputs["test"].manifest["versions"]
    lines["Versions"] = ", ".join(f"{name} {number}" for name, number in versions.items())
    lines["Seed"] = f"{config.test.seed} (drawing of pairs, order of the rows, coins for ties)"
    lines["Coding of the weights"] = _coding_words(read_summary(inputs["fit"], FitSummary))
    lines |= _rows_dropped(read_summary(inputs["download"], DownloadSummary))
    spoiled = spoiled_tests(config, read_summary(inputs["test"], TestSummary).masks)
    if spoiled:
        lines["Warning"] = f"the masks failed the check of their premise, so p-values may not be valid: {spoiled}"
    return lines


def _coding_words(fit: FitSummary) -> str:
    rows = fit.coding_rows
    return fit.coding if rows is None else f"{fit.coding}, seen on {rows:,} models that are not tested"


def _rows_dropped(download: DownloadSummary) -> dict[str, str]:
    """What the download stage did to the rows."""
    lines = {}
    if download.n_unfinished:
        lines["Models left out"] = f"{download.n_unfinished:,}, which are not completed"
    if download.n_repeated:
        lines["Models averaged"] = f"{download.n_repeated:,} repeat a mask; outcomes of equal masks were averaged"
    return lines
