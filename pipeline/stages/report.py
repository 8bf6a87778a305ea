"""Stage 4, report: correct for multiplicity and show the findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cache import Result
from pipeline.config import Config, to_toml
from pipeline.datasets import Labels
from pipeline.stages.context import Data, progress_bar

VERSION = 2


def settings(config: Config) -> dict[str, Any]:
    test = {f"test.{name}": getattr(config.test, name) for name in ("alpha", "correction")}
    return {**test, **{f"report.{name}": value for name, value in config.report.model_dump().items()}}


def run(config: Config, inputs: dict[str, Result], out: Path, quiet: bool, command: str) -> dict[str, Any]:
    from pipeline.report import write_report
    from pipeline.report.content import Content, Images

    rows = _rows(config, inputs["test"].folder / "tests.parquet")
    data = Data.of(inputs["download"])
    images = data.images
    fit = inputs["fit"].summary
    content = Content(
        title=config.report.title,
        rows=rows,
        images=Images(images.train, images.targets) if images is not None else None,
        alpha=config.test.alpha,
        correction=config.test.correction,
        n_models_fit=config.source.fit_rows,
        n_models_test=data.held_out_masks.n_models,
        n_train=data.n_train,
        r2_median=_number(fit["r2_median"]),
        spearman_median=_number(fit["spearman_median"]),
        quality=_quality(config, inputs["fit"].folder / "quality.npz", data.labels),
        mask_law=inputs["test"].summary["mask_law"],
        max_panels=config.report.max_panels,
        tau=config.test.tau,
        provenance=_provenance(inputs, command),
        configuration=to_toml(config),
    )
    found = {method: sum(row.finding for row in rows if row.method == method) for method in config.test.method}
    panels = sum(min(config.report.max_panels, count) for count in found.values())
    with progress_bar(panels, "panel", "report", quiet) as advance:
        write_report(out, content, advance)
    return {"n_tests": len(rows), "n_findings": found}


def _rows(config: Config, path: Path) -> list[Any]:
    """The table of the test stage, with adjusted p-values: each method's tests are one family."""
    from pyarrow import parquet

    from datamodels_inf.multiplicity import adjust_pvalues
    from pipeline.report.content import COLUMNS, Row

    table = parquet.read_table(path).to_pydict()
    methods, p = np.array(table["method"]), np.array(table["pvalue"])
    adjusted = np.empty(len(p))
    for method in config.test.method:
        adjusted[methods == method] = adjust_pvalues(p[methods == method], config.test.correction)
    table["pvalue_adjusted"] = adjusted.tolist()
    table["finding"] = (adjusted <= config.test.alpha).tolist()
    return [Row(*values) for values in zip(*(table[name] for name in COLUMNS), strict=True)]


def _quality(config: Config, path: Path, labels: Labels | None) -> Any:
    """What the fit stage found out about each datamodel, with the classes of their targets."""
    from pipeline.report.content import DatamodelQuality

    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    targets = arrays["targets"]
    classes = [""] * len(targets) if labels is None else [labels.class_names[k] for k in labels.target_labels[targets]]
    return DatamodelQuality(**arrays, classes=classes, loaded=config.fit.mode == "load")


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _provenance(inputs: dict[str, Result], command: str) -> dict[str, str]:
    lines = {"Command": command}
    for name, result in inputs.items():
        manifest = result.manifest
        lines[f"Stage {name}"] = f"{manifest['key']}, made {manifest['made_at']} in {manifest['seconds']} s"
    versions = inputs["test"].manifest["versions"]
    lines["Versions"] = ", ".join(f"{name} {number}" for name, number in versions.items())
    lines["Coding of the weights"] = str(inputs["fit"].summary["coding"])
    if not inputs["test"].summary["exchangeable"]:
        reasons = "; ".join(inputs["test"].summary["exchangeability_reasons"])
        lines["Warning"] = f"the masks failed the check of exchangeability, so p-values may not be valid: {reasons}"
    return lines
