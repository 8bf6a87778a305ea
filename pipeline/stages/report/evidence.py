"""What the report looks up for the tests that it draws: curves, galleries, and the influences of single images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pipeline.images.image_set import Labels
from pipeline.report.evidence.curves import HeldOut
from pipeline.report.evidence.influences import FoundAtlas, Names
from pipeline.report.evidence.shown import evidence_of
from pipeline.report.rows import Row
from pipeline.report.work import Progress, silent
from pipeline.stages.atlas.found import Found
from pipeline.stages.atlas.influence import read_counts
from pipeline.stages.base import Run
from pipeline.stages.inputs import tested_targets
from pipeline.stages.test.premise import spoiled_influences
from pipeline.summaries import InfluenceSummary, read_summary


def evidence(run: Run, drawn: Sequence[Row], progress: Progress = silent) -> dict[str, Any]:
    """Fields of `Content`."""
    data = run.data
    held_out, names = held_out_of(run), names_of(data.labels)
    found = _found_atlas(run, held_out, names)
    said = None if found is None else _expected_influences(read_summary(run.inputs["influence"], InfluenceSummary))
    return evidence_of(
        drawn,
        held_out,
        names,
        found,
        higher_is_better=data.rows.higher_is_better,
        expectation=said or "",
        progress=progress,
    )


def held_out_of(run: Run) -> HeldOut:
    """The models that test, ready to be asked about targets."""
    data, test, fitted = run.data, run.config.test, run.fitted
    prepared = partial(tested_targets, data, fitted)
    return HeldOut(data.held_out_masks, prepared, fitted.datamodel, fitted.targets, test.order, test.seed)


def _found_atlas(run: Run, held_out: HeldOut, names: Names) -> FoundAtlas | None:
    """What the stages atlas and influence left, where a configuration has them."""
    if "influence" not in run.inputs:
        return None
    found, summary = Found.read(run.inputs), read_summary(run.inputs["influence"], InfluenceSummary)
    atlas = found.atlas
    if not atlas.summary.targets:
        return None
    return FoundAtlas(
        targets=atlas.targets,
        of_target=atlas.of_target,
        of_image=atlas.of_image,
        is_finding=found.is_finding,
        level_at_one=found.level,
        levels=found.levels,
        pvalue=atlas.pvalue,
        **read_counts(run.inputs["influence"]),
        family=summary.family,
        alpha=summary.alpha,
        correction=summary.correction,
        held_out=held_out,
        names=names,
        threads=run.n_threads,
        warning=spoiled_influences(run.config, atlas.summary.masks),
        higher_is_better=run.data.rows.higher_is_better,
    )


def _expected_influences(summary: InfluenceSummary) -> str:
    """What the models of the fit expected, where a prior is in use."""
    if summary.expected is None or summary.expected_by is None:
        return ""
    by = f"{summary.expected_by:,.0f} with Benjamini–Yekutieli’s correction"
    text = f"The models of the fit expected {summary.expected:,.0f} findings ({by})"
    few = summary.n_unpredicted
    return f"{text}; of {few:,} families they expected nothing, and these have equal weights." if few else f"{text}."


def names_of(labels: Labels | None) -> Names:
    """The classes of images, by part and number."""

    def name(part: str, index: int) -> str:
        if labels is None:
            return ""
        numbers = labels.train_labels if part == "train" else labels.target_labels
        return str(labels.class_names[int(numbers[index])])

    return name
