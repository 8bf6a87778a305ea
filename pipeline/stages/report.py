"""Stage 4, report: correct for multiplicity and show the findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.findings import decide
from datamodels_inf.internal.checks import Floats
from datamodels_inf.kernels import ahead
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Config
from pipeline.config_files import to_toml
from pipeline.images.image_set import Labels
from pipeline.influence_summaries import InfluenceSummary, PriorSummary
from pipeline.progress import progress_bar
from pipeline.stages.atlas.found import Found
from pipeline.stages.atlas.influence import read_counts
from pipeline.stages.base import Run, Stage
from pipeline.stages.fresh.shown import fresh_check
from pipeline.stages.inputs import tested_targets
from pipeline.stages.prior.files import read_forecast, read_prior
from pipeline.stages.test.premise import spoiled_influences, spoiled_tests
from pipeline.store.cache import Result
from pipeline.summaries import DownloadSummary, FitSummary, ReportSummary, RobustnessSummary, TestSummary, read_summary
from pipeline.text.given_names import outcome_name

if TYPE_CHECKING:
    from pipeline.findings import Family
    from pipeline.report.content import (
        Blocks,
        Coding,
        DatamodelQuality,
        Expectation,
        Growth,
        Robustness,
    )
    from pipeline.report.evidence.curves import HeldOut
    from pipeline.report.evidence.influences import FoundAtlas, Names
    from pipeline.report.rows import Row

VERSION = 14


def left_out(config: Config) -> dict[str, str]:
    """Nothing: the page prints the whole configuration."""
    return {}


def run(run: Run) -> ReportSummary:
    """Write the page and its files."""
    from pipeline.report import write_report
    from pipeline.report.content import Content, Images, MaskCheck
    from pipeline.report.evidence.trained_again import trained_again_of

    config, inputs, data = run.config, run.inputs, run.data
    fit, test = read_summary(inputs["fit"], FitSummary), read_summary(inputs["test"], TestSummary)
    expectations = _expectations(run)
    rows = _rows(config, inputs["test"].folder / "tests.parquet", test.n_rows, expectations)
    images, labels = data.images, data.labels
    content = Content(
        title=config.report.title_of(data.noun),
        rows=rows,
        images=Images(images.train, images.targets) if images is not None else None,
        awaits_images=data.rows.awaits_images,
        alpha=config.test.alpha,
        correction=config.test.correction,
        n_models_fit=data.fit_masks.n_models,
        n_models_test=data.held_out_masks.n_models,
        blocks=_blocks(data.fit_masks.n_models, fit, test),
        counts=_counts(config, rows, expectations),
        expectations=expectations,
        growth=_growth(config, inputs["test"].folder / "growth.parquet", test.block_rows, expectations),
        n_train=data.n_train,
        r2_median=_number(fit.r2_median),
        spearman_median=_number(fit.spearman_median),
        quality=_quality(config, inputs["fit"].folder, fit, labels),
        mask_law=test.mask_law,
        masks=MaskCheck(test.masks, data.held_out_masks.column_sums(), config.test.order == "permuted"),
        coding=_coding(fit),
        class_names=() if labels is None else labels.class_names,
        train_classes=() if labels is None else [labels.class_names[k] for k in labels.train_labels.tolist()],
        **_evidence(run, rows),
        robustness=_robustness(inputs, labels),
        trained_again=trained_again_of(inputs.get("verify")),
        fresh=fresh_check(inputs),
        max_panels=config.report.max_panels,
        unit=outcome_name(data.rows.outcome),
        higher_is_better=data.rows.higher_is_better,
        names=data.names,
        tau=config.test.tau,
        provenance=_provenance(config, inputs, run.command),
        configuration=to_toml(config),
    )
    found = {method: sum(row.finding for row in rows if row.method == method) for method in config.test.method}
    panels = sum(min(config.report.max_panels, count) for count in found.values())
    with progress_bar(panels, "panel", "report", run.quiet) as advance:
        write_report(run.out, content, advance)
    return ReportSummary(n_tests=len(rows), n_findings=found)


def _expectations(run: Run) -> dict[str, Expectation]:
    """By method, what the fit rows expected of its tests, where that is known."""
    from pyarrow import parquet

    if "prior" not in run.inputs:
        return {}
    table = parquet.read_table(run.inputs["test"].folder / "tests.parquet", columns=["method", "pvalue"])
    methods, p = np.array(table["method"].to_pylist()), table["pvalue"].to_numpy()
    prior = run.inputs["prior"]
    return {method: _expectation(prior, method, p[methods == method]) for method in run.config.test.method}


def _expectation(result: Result, method: str, pvalue: Floats) -> Expectation:
    """What the fit rows expected of the tests of a method, whose p-values tell what came."""
    from pipeline.report.content import Expectation
    from pipeline.report.content.expectations import realised_counts

    said, prior = read_summary(result, PriorSummary).methods[method], read_prior(result, method)
    u, predicted = read_forecast(result, method)
    return Expectation(
        prior=prior,
        expected=said.expected,
        interval=said.interval,
        expected_by=said.expected_by,
        reason=said.reason,
        u=u,
        predicted=predicted,
        realised=realised_counts(pvalue, prior.weight, u),
    )


def _family(config: Config, pvalue: Floats, expectation: Expectation | None) -> Family:
    """The tests of one method."""
    from pipeline.findings import Family

    weighted = CORRECTIONS[config.test.correction].needs_prior
    return Family(pvalue, config.test, expectation.prior if weighted and expectation is not None else None)


def _rows(config: Config, path: Path, n_rows: Mapping[str, int], expectations: Mapping[str, Expectation]) -> list[Row]:
    """The table of the test stage, decided; n_rows: by method, the models that tested each pair."""
    from pyarrow import parquet

    from pipeline.report.rows import rows_of

    table = {name: _column(name, values) for name, values in parquet.read_table(path).to_pydict().items()}
    weighted = CORRECTIONS[config.test.correction].needs_prior
    priors = {method: known.prior for method, known in expectations.items()} if weighted else {}
    counts = {method: n_rows[method] for method in config.test.method}
    return rows_of(decide(table, config.test, n_rows=counts, priors=priors))


def _column(name: str, values: list[Any]) -> NDArray[Any]:
    """As an array; the members of groups as tuples."""
    if not name.startswith("members_"):
        return np.array(values)
    members = np.empty(len(values), object)
    members[:] = [tuple(own) for own in values]
    return members


def _blocks(n_first: int, fit: FitSummary, test: TestSummary) -> Blocks | None:
    """In which parts the models test, where these are several."""
    from pipeline.report.content import Blocks

    if len(test.block_rows) == 1:
        return None
    return Blocks(n_first, test.block_rows, test.n_rows, tuple(map(_number, fit.r2_of_prefixes)))


def _counts(
    config: Config, rows: Sequence[Row], expectations: Mapping[str, Expectation]
) -> dict[str, dict[str, int | None]]:
    """By method, the findings of each correction."""
    from pipeline.findings import counts_by_correction

    counts = {}
    for method in config.test.method:
        known = expectations.get(method)
        p = np.array([row.pvalue for row in rows if row.method == method])
        counts[method] = counts_by_correction(p, config.test, None if known is None else known.prior)
    return counts


def _growth(
    config: Config, path: Path, block_rows: Sequence[int], expectations: Mapping[str, Expectation]
) -> dict[str, Growth]:
    """By method, the findings that the models up to each block would have had; empty where they are one block."""
    from pyarrow import parquet

    from pipeline.report.content import Growth

    if not path.is_file():
        return {}
    table = parquet.read_table(path)
    methods = np.array(table["method"].to_pylist())
    after = np.stack([table[f"after_{k + 1}"].to_numpy() for k in range(len(block_rows))])
    models = tuple(np.cumsum(block_rows).tolist())
    growth = {}
    for method in dict.fromkeys(methods.tolist()):
        families = [_family(config, p, expectations.get(method)) for p in after[:, methods == method]]
        growth[method] = Growth(models, tuple(family.n_found for family in families))
    return growth


def _evidence(run: Run, rows: Sequence[Row]) -> dict[str, Any]:
    """Curves of the tests that get a panel, galleries of their targets, and the influences of single images."""
    from pipeline.report.evidence.curves import HeldOut
    from pipeline.report.evidence.shown import evidence_of

    data, test, fitted = run.data, run.config.test, run.fitted
    prepared = partial(tested_targets, data, fitted)
    held_out = HeldOut(data.held_out_masks, prepared, fitted.datamodel, fitted.targets, test.order, test.seed)
    names = _names(data.labels)
    found = _found_atlas(run, held_out, names)
    said = None if found is None else _expected_influences(read_summary(run.inputs["influence"], InfluenceSummary))
    return evidence_of(
        rows,
        held_out,
        names,
        found,
        max_panels=run.config.report.max_panels,
        higher_is_better=data.rows.higher_is_better,
        expectation=said or "",
    )


def _found_atlas(run: Run, held_out: HeldOut, names: Names) -> FoundAtlas | None:
    """What the stages atlas and influence left, where a configuration has them."""
    from pipeline.report.evidence.influences import FoundAtlas

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
    return f"{text}; of {few} families they expected nothing, and these have equal weights." if few else f"{text}."


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
        lines["Models averaged"] = f"{download.n_repeated:,} repeat a mask; outcomes of equal masks were averaged"
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


INPUTS = (
    "download", "fit", "test", "evidence", "prior", "atlas", "influence", "features", "robustness", "verify",
    "agreement",
)  # fmt: skip


def kernels(config: Config) -> Sequence[str]:
    """For the correction, and for the influences of single images."""
    return (*ahead.SUMS, *ahead.CLOSED_SETS, *ahead.ONE_TARGET)


STAGE = Stage("report", VERSION, INPUTS, ReportSummary, run, left_out, published=True, kernels=kernels)
