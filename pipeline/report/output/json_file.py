"""report.json: the same report for a program. NaN and infinity, which JSON has not, are null."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from datamodels_inf.multiplicity import threshold
from pipeline.findings import finding_level
from pipeline.report.content import Content
from pipeline.report.evidence.detectable_effects import POWER, DetectableEffects
from pipeline.report.output.influences_table import influences_json
from pipeline.report.output.tests_table import values_of
from pipeline.report.page import MethodOnPage, Page
from pipeline.report.sentences import verdict

FORMAT = "datamodels-inf report 1"


def write_json(path: Path, page: Page) -> None:
    """The whole report but its pictures and the tests that are no findings, which are in tests.csv."""
    content = page.content
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
        "methods": [_method(method, content) for method in page.methods],
        **({} if content.influences is None else {"atlas": influences_json(content.influences)}),
        "provenance": dict(content.provenance),
        "configuration": content.configuration,
    }
    text = json.dumps(_finite(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def _method(method: MethodOnPage, content: Content) -> dict[str, Any]:
    group, found = method.group, method.n_found
    m = group.n_tests
    return {
        "method": group.method,
        "answer": verdict(group, content),
        "n_tests": m,
        "n_findings": found,
        "threshold": threshold(content.correction, content.alpha, m, found) if m else None,
        "selected_confidence": finding_level(content.correction, content.alpha, m, found),
        "limits": _detectable(method.detectable),
        "findings": [{"number": item.number, **values_of(item.row)} for item in group.findings],
        "closest_misses": [values_of(item.row) for item in group.misses],
    }


def _detectable(effects: DetectableEffects | None) -> dict[str, Any] | None:
    if effects is None:
        return None
    return {
        "level": effects.level,
        "power": POWER,
        "noise": effects.noise,
        "proportion": effects.proportion,
        "detectable_effect": {reach.method: reach.effect for reach in effects.reaches},
        "effect": effects.effect,
        "models_needed_for_effect": {reach.method: reach.models for reach in effects.reaches},
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
