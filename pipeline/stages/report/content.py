"""All that the report of a run shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.arrays import open_npz
from pipeline.config import Config
from pipeline.config_files import to_toml
from pipeline.images.image_set import Labels
from pipeline.report.content import Blocks, Coding, Content, DatamodelQuality, Images, MaskCheck
from pipeline.report.evidence.trained_again import trained_again_of
from pipeline.stages.base import Run
from pipeline.stages.fresh.shown import fresh_check
from pipeline.stages.report.decided import Decided
from pipeline.stages.report.provenance import provenance_of
from pipeline.stages.report.reruns import reruns_of
from pipeline.summaries import FitSummary, TestSummary, read_summary
from pipeline.text.given_names import outcome_name
from pipeline.text.numbers import or_nan
from pipeline.text.own_paths import command_in_report, in_report

NOT_SHOWN = ("cluster", "referee")
"""Sections of the configuration that have no part in the page: where the work was done, and what has its own page."""


def content_of(run: Run, decided: Decided, evidence: Mapping[str, Any]) -> Content:
    """Everything on the page. evidence: the fields that `pipeline.stages.report.evidence` looks up."""
    config, inputs, data = run.config, run.inputs, run.data
    fit, test = read_summary(inputs["fit"], FitSummary), read_summary(inputs["test"], TestSummary)
    images, labels = data.images, data.labels
    return Content(
        title=config.report.title_of(data.noun),
        groups=decided.groups,
        images=Images(images.train, images.targets) if images is not None else None,
        awaits_images=data.rows.awaits_images,
        alpha=config.test.alpha,
        correction=config.test.correction,
        n_models_fit=data.fit_masks.n_models,
        n_models_test=data.held_out_masks.n_models,
        blocks=_blocks(data.fit_masks.n_models, fit, test),
        counts=decided.counts,
        expectations=decided.expectations,
        growth=decided.growth,
        n_train=data.n_train,
        r2_median=or_nan(fit.r2_median),
        spearman_median=or_nan(fit.spearman_median),
        quality=_quality(config, inputs["fit"].folder, fit, labels),
        mask_law=test.mask_law,
        masks=MaskCheck(test.masks, data.held_out_masks.column_sums(), config.test.order == "permuted"),
        coding=_coding(fit),
        class_names=() if labels is None else labels.class_names,
        train_classes=() if labels is None else [labels.class_names[k] for k in labels.train_labels.tolist()],
        **evidence,
        robustness=reruns_of(inputs, labels),
        trained_again=trained_again_of(inputs.get("verify")),
        fresh=fresh_check(inputs),
        max_panels=config.report.max_panels,
        unit=outcome_name(data.rows.outcome),
        higher_is_better=data.rows.higher_is_better,
        names=data.names,
        tau=config.test.tau,
        provenance=provenance_of(config, inputs, command_in_report(run.command)),
        configuration=to_toml(config, without=NOT_SHOWN, change=in_report),
    )


def _blocks(n_first: int, fit: FitSummary, test: TestSummary) -> Blocks | None:
    """In which parts the models test, where these are several."""
    if len(test.block_rows) == 1:
        return None
    return Blocks(n_first, test.block_rows, test.n_rows, tuple(map(or_nan, fit.r2_of_prefixes)))


def _quality(config: Config, folder: Path, fit: FitSummary, labels: Labels | None) -> DatamodelQuality:
    """What the fit stage found out about each datamodel, with the classes of their targets."""
    with open_npz(folder / "quality.npz") as file:
        arrays = file.read()
    targets = arrays["targets"]
    classes = [""] * len(targets) if labels is None else [labels.class_names[k] for k in labels.target_labels[targets]]
    return DatamodelQuality(
        **arrays,
        classes=classes,
        loaded=config.fit.mode == "load",
        n_at_end=fit.n_lambda_at_end,
    )


def _coding(fit: FitSummary) -> Coding:
    mask, signed, constant = (or_nan(error) for error in (fit.mse_mask, fit.mse_signed, fit.mse_constant))
    return Coding(fit.coding, mask, signed, constant, fit.coding_rows or 0)
