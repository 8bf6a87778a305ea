"""report.json: the same report for a program. NaN and infinity, which JSON has not, are null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from datamodels_inf.multiplicity import threshold
from pipeline.findings import finding_level
from pipeline.report.content import Content
from pipeline.report.evidence.limits import POWER, Limits
from pipeline.report.output.csv_files import values_of
from pipeline.report.rows import Group
from pipeline.report.words import verdict

FORMAT = "datamodels-inf report 1"


def json_of(content: Content, groups: Sequence[Group], limits: Mapping[str, Limits | None]) -> str:
    """The whole report but its pictures and the tests that are no findings, which are in tests.csv."""
    report = {
        "format": FORMAT,
        "title": content.title,
        "alpha": content.alpha,
        "correction": content.correction,
        "tau": content.tau,
        "unit": content.unit,
        "n_models_fit": content.n_models_fit,
        "n_models_test": content.n_models_test,
        "n_train": content.n_train,
        "datamodels": {"r2_median": content.r2_median, "spearman_median": content.spearman_median},
        "masks": {"law": content.mask_law} if content.masks is None else asdict(content.masks.report),
        "coding": None if content.coding is None else asdict(content.coding),
        "methods": [_method(group, content, limits[group.method]) for group in groups],
        "provenance": dict(content.provenance),
        "configuration": content.configuration,
    }
    return json.dumps(_finite(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _method(group: Group, content: Content, limits: Limits | None) -> dict[str, Any]:
    m, found = group.n_tests, len(group.findings)
    return {
        "method": group.method,
        "answer": verdict(group, content),
        "n_tests": group.n_tests,
        "n_findings": found,
        "threshold": threshold(content.correction, content.alpha, m, found) if m else None,
        "selected_confidence": finding_level(content.correction, content.alpha, m, found),
        "limits": _limits(limits),
        "findings": [{"number": item.number, **values_of(item.row)} for item in group.findings],
        "closest_misses": [values_of(item.row) for item in group.misses],
    }


def _limits(limits: Limits | None) -> dict[str, Any] | None:
    if limits is None:
        return None
    return {
        "level": limits.level,
        "power": POWER,
        "noise": limits.noise,
        "proportion": limits.proportion,
        "detectable_effect": {reach.method: reach.effect for reach in limits.reaches},
        "effect": limits.effect,
        "models_needed_for_effect": {reach.method: reach.models for reach in limits.reaches},
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
