"""Stage 4, report: correct for multiplicity and show the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Ints
from pipeline.config import Config, to_toml
from pipeline.images.image_set import Labels
from pipeline.progress import progress_bar
from pipeline.stages.atlas.influence import is_finding
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.base import Run, Stage
from pipeline.stages.test.premise import spoiled_influences, spoiled_tests
from pipeline.store.cache import Result
from pipeline.summaries import (
    DownloadSummary,
    FitSummary,
    InfluenceSummary,
    ReportSummary,
    RobustnessSummary,
    TestSummary,
    read_summary,
)

if TYPE_CHECKING:
    from pipeline.report.content import Coding, DatamodelQuality, Influences, Robustness
    from pipeline.report.evidence.curves import HeldOut
    from pipeline.report.evidence.influences import FoundAtlas, Names
    from pipeline.report.rows import Row

VERSION = 9


def left_out(config: Config) -> dict[str, str]:
    """Nothing: the page prints the whole configuration."""
    return {}


def run(run: Run) -> ReportSummary:
    """Write the page and its files."""
    from pipeline.report import write_report
    from pipeline.report.content import Content, Images, MaskCheck

    config, inputs, data = run.config, run.inputs, run.data
    rows = _rows(config, inputs["test"].folder / "tests.parquet")
    images, labels = data.images, data.labels
    fit, test = read_summary(inputs["fit"], FitSummary), read_summary(inputs["test"], TestSummary)
    content = Content(
        title=config.report.title,
        rows=rows,
        images=Images(images.train, images.targets) if images is not None else None,
        alpha=config.test.alpha,
        correction=config.test.correction,
        n_models_fit=data.fit_masks.n_models,
        n_models_test=data.held_out_masks.n_models,
        n_train=data.n_train,
        r2_median=_number(fit.r2_median),
        spearman_median=_number(fit.spearman_median),
        quality=_quality(config, inputs["fit"].folder, fit, labels),
        mask_law=test.mask_law,
        masks=MaskCheck(test.masks, data.held_out_masks.column_sums(), config.test.order == "permuted"),
        coding=_coding(fit),
        class_names=() if labels is None else labels.class_names,
        **_evidence(run, rows),
        robustness=_robustness(inputs, labels),
        max_panels=config.report.max_panels,
        tau=config.test.tau,
        provenance=_provenance(config, inputs, run.command),
        configuration=to_toml(config),
    )
    found = {method: sum(row.finding for row in rows if row.method == method) for method in config.test.method}
    panels = sum(min(config.report.max_panels, count) for count in found.values())
    with progress_bar(panels, "panel", "report", run.quiet) as advance:
        write_report(run.out, content, advance)
    return ReportSummary(n_tests=len(rows), n_findings=found)


def _rows(config: Config, path: Path) -> list[Row]:
    """The table of the test stage, with adjusted p-values and the findings' longer intervals, each method a family."""
    from pyarrow import parquet

    from pipeline.findings import Family
    from pipeline.report.rows import COLUMNS, Row

    table = parquet.read_table(path).to_pydict()
    methods, p = np.array(table["method"]), np.array(table["pvalue"])
    effects = [np.array(table[name]) for name in ("effect", "effect_se", "effect_df")]
    found, (adjusted, low, high) = np.zeros(len(p), np.bool_), np.full((3, len(p)), np.nan)
    for method in config.test.method:
        own = np.flatnonzero(methods == method)
        family = Family(p[own], config.test)
        adjusted[own], found[own] = family.adjusted, family.found
        chosen = own[family.found]
        low[chosen], high[chosen] = family.selected_intervals(*(values[chosen] for values in effects))
    table |= {"effect_low_selected": low.tolist(), "effect_high_selected": high.tolist()}
    table |= {"pvalue_adjusted": adjusted.tolist(), "finding": found.tolist()}
    for name in {"members_i", "members_j"} & table.keys():
        table[name] = [tuple(members) for members in table[name]]
    names = [name for name in COLUMNS if name in table]
    return [Row(**dict(zip(names, values, strict=True))) for values in zip(*map(table.get, names), strict=True)]


def _evidence(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    """Curves of the tests that get a panel, galleries of their targets, and the influences of single images."""
    from pipeline.report.evidence.curves import HeldOut, curves_of
    from pipeline.report.evidence.galleries import galleries_of
    from pipeline.report.evidence.influences import with_influences
    from pipeline.report.rows import groups_of

    data, test = run.data, run.config.test
    drawn = [item.row for group in groups_of(rows) for item in group.drawn(run.config.report.max_panels)]
    fitted = run.fitted
    held_out = HeldOut(
        data.held_out_masks, data.held_out_margins, fitted.datamodel, fitted.targets, test.order, test.seed
    )
    targets = list(dict.fromkeys(row.target for row in drawn))
    names = _names(data.labels)
    galleries = galleries_of(targets, held_out, partial(names, "train"))
    evidence = {"curves": curves_of(drawn, held_out), "galleries": galleries}
    found = _found_atlas(run, held_out, names)
    if found is None:
        return evidence
    return evidence | {"galleries": with_influences(galleries, found), "influences": _influences(found, targets)}


def _found_atlas(run: Run, held_out: HeldOut, names: Names) -> FoundAtlas | None:
    """What the stages atlas and influence left, where a configuration has them."""
    from pipeline.report.evidence.influences import FoundAtlas

    if "influence" not in run.inputs:
        return None
    atlas, summary = Atlas.of(run.inputs["atlas"]), read_summary(run.inputs["influence"], InfluenceSummary)
    if not atlas.summary.targets:
        return None
    with np.load(run.inputs["influence"].folder / "findings.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}

    def found_on(place: int, images: Ints) -> NDArray[np.bool_]:
        estimate, error = (values[images] for values in atlas.of_target(place))
        return is_finding(atlas, place, estimate, error, float(arrays["limit"][place]))

    return FoundAtlas(
        targets=atlas.targets,
        of_target=atlas.of_target,
        of_image=atlas.of_image,
        is_finding=found_on,
        pvalue=atlas.pvalue,
        **arrays,
        family=summary.family,
        alpha=summary.alpha,
        correction=summary.correction,
        held_out=held_out,
        names=names,
        threads=run.n_threads,
        warning=spoiled_influences(run.config, atlas.summary.masks),
    )


def _influences(found: FoundAtlas, with_panels: Sequence[int]) -> Influences:
    """Of single images: on the targets shown, and overall."""
    from pipeline.report.evidence.influences import influences_on, shown_targets
    from pipeline.report.evidence.influential_images import overall

    return overall(found, tuple(influences_on(found, target) for target in shown_targets(found, with_panels)))


def _robustness(inputs: Mapping[str, Result], labels: Labels | None) -> Robustness | None:
    """The re-runs, if there were any."""
    from dataclasses import fields

    from pyarrow import parquet

    from pipeline.commands.robustness import explanation
    from pipeline.report.content.reruns import Agreement, Alike, Case, Rerun, Robustness

    if "robustness" not in inputs:
        return None
    summary = read_summary(inputs["robustness"], RobustnessSummary)
    names = [field.name for field in fields(Rerun)]
    rows = parquet.read_table(inputs["robustness"].folder / "reruns.parquet").to_pylist()
    cases = []
    for k, case in enumerate(summary.cases):
        near_i, near_j = (
            tuple(
                Alike(index, distance, index in near.near_copies)
                for index, distance in zip(near.images, near.distances, strict=True)
            )
            for near in (case.near["i"], case.near["j"])
        )
        agreed = {
            role: Agreement(f.n, _number(f.same_sign), _number(f.effects), _number(f.pvalues))
            for role, f in case.agreement.items()
        }
        reruns = tuple(Rerun(**{name: row[name] for name in names}) for row in rows if row["case"] == k)
        cases.append(Case(case.finding or 0, case.i, case.j, case.targets, near_i, near_j, agreed, reruns))
    classes = {}
    if labels is not None:
        shown = [rerun for case in cases for rerun in case.reruns]
        of_train = {index for rerun in shown for index in (rerun.i, rerun.j)}
        classes = {("train", k): labels.class_names[labels.train_labels[k]] for k in of_train}
        classes |= {("target", r.target): labels.class_names[labels.target_labels[r.target]] for r in shown}
    return Robustness(
        method=summary.method,
        metric=summary.metric,
        explanation=explanation(summary),
        n_tests=summary.n_tests,
        n_models=summary.n_held_out,
        classes=classes,
        cases=tuple(cases),
    )


def _names(labels: Labels | None) -> Names:
    def name(part: str, index: int) -> str:
        if labels is None:
            return ""
        numbers = labels.train_labels if part == "train" else labels.target_labels
        return str(labels.class_names[int(numbers[index])])

    return name


def _quality(config: Config, folder: Path, fit: FitSummary, labels: Labels | None) -> DatamodelQuality:
    """What the fit stage found out about each datamodel, with the classes of their targets."""
    from pipeline.report.content import DatamodelQuality

    with np.load(folder / "quality.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    targets = arrays["targets"]
    classes = [""] * len(targets) if labels is None else [labels.class_names[k] for k in labels.target_labels[targets]]
    return DatamodelQuality(
        **arrays,
        classes=classes,
        loaded=config.fit.mode == "load",
        n_at_end=fit.n_lambda_at_end,
    )


def _coding(fit: FitSummary) -> Coding:
    from pipeline.report.content import Coding

    mask, signed, constant = (_number(error) for error in (fit.mse_mask, fit.mse_signed, fit.mse_constant))
    return Coding(fit.coding, mask, signed, constant, fit.coding_rows or 0)


def _coding_words(fit: FitSummary) -> str:
    rows = fit.coding_rows
    return fit.coding if rows is None else f"{fit.coding}, seen on {rows:,} models that are not tested"


def _rows_dropped(download: DownloadSummary) -> dict[str, str]:
    """What the download stage did to the rows."""
    lines = {}
    if download.n_unfinished:
        lines["Models left out"] = f"{download.n_unfinished:,}, which are not completed"
    if download.n_repeated:
        lines["Models averaged"] = f"{download.n_repeated:,} repeat a mask; margins of equal masks were averaged"
    return lines


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _provenance(config: Config, inputs: Mapping[str, Result], command: str) -> dict[str, str]:
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


INPUTS = ("download", "fit", "test", "atlas", "influence", "features", "robustness")
STAGE = Stage("report", VERSION, INPUTS, ReportSummary, run, left_out, published=True)
