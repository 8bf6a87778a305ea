"""report.json: the same report for a program. NaN and infinity, which JSON has not, are null."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.report.content import Blocks, Content, Expectation, FreshCheck
from pipeline.report.evidence.detectable_effects import POWER, DetectableEffects
from pipeline.report.groups import Group
from pipeline.report.levels import finding_levels
from pipeline.report.output.influences_table import influences_json
from pipeline.report.output.tests_table import values_of
from pipeline.report.page import MethodOnPage, Page
from pipeline.report.sentences import verdict
from pipeline.text.json_file import without_nan

FORMAT = "datamodels-inf report 1"
LISTED_CHARACTERS = 3_000_000
"""Of the findings of all methods together: a program that wants all of them reads findings.csv."""


def write_json(path: Path, page: Page) -> None:
    """The report without its pictures; findings beyond LISTED_CHARACTERS and other tests are in the CSV files."""
    content = page.content
    report = {
        "format": FORMAT,
        "title": content.title,
        "alpha": content.alpha,
        "correction": content.correction,
        "tau": content.tau,
        "unit": content.unit,
        "higher_is_better": content.higher_is_better,
        "n_models_fit": content.n_models_fit,
        "n_models_test": content.n_models_test,
        "blocks": None if content.blocks is None else _blocks(content.blocks),
        "n_train": content.n_train,
        "bar_end": page.bar_end,
        "datamodels": {"r2_median": content.r2_median, "spearman_median": content.spearman_median},
        "masks": {"law": content.mask_law} if content.masks is None else asdict(content.masks.report),
        "coding": None if content.coding is None else asdict(content.coding),
        "methods": [_method(method, content, LISTED_CHARACTERS // len(page.methods)) for method in page.methods],
        **({} if content.influences is None else {"atlas": influences_json(content.influences, content.names)}),
        **({} if content.trained_again is None else {"verify": asdict(content.trained_again)}),
        **({} if content.fresh is None else {"fresh": _fresh(content.fresh)}),
        "provenance": dict(content.provenance),
        "configuration": content.configuration,
    }
    text = json.dumps(without_nan(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def _method(method: MethodOnPage, content: Content, most: int) -> dict[str, Any]:
    group, found = method.group, method.n_found
    m, name = group.n_tests, group.method
    levels = finding_levels(group, content)
    listed = _listed(group, content, most)
    growth, expectation = content.growth.get(name), content.expectations.get(name)
    return {
        "method": name,
        "answer": verdict(group, content),
        "n_tests": m,
        "n_rows": method.n_models,
        "n_findings": found,
        "n_findings_listed": len(listed),
        "n_unseen": group.n_unseen,
        "n_findings_by_correction": dict(content.counts.get(name, {})),
        "growth": None if growth is None else asdict(growth),
        "prior": None if expectation is None else _expectation(expectation),
        "threshold": group.threshold(content.correction, content.alpha, content.shape_of(name)) if m else None,
        "selected_confidence": levels[0] if levels[0] == levels[1] else None,
        "selected_confidence_range": levels,
        "limits": _detectable(method.detectable),
        "findings": listed,
        "closest_misses": [values_of(item.row, content.names) for item in group.misses],
    }


def _listed(group: Group, content: Content, most: int) -> list[dict[str, Any]]:
    """The first findings, of so many characters; those that the page may list, and no more."""
    listed: list[dict[str, Any]] = []
    for item in group.kept:
        values = {"number": item.number, **values_of(item.row, content.names)}
        most -= len(json.dumps(values, indent=4, ensure_ascii=False))
        if most < 0:
            break
        listed.append(values)
    return listed


def _blocks(blocks: Blocks) -> dict[str, Any]:
    """Models that only fit, and of each block its models, those it was fitted on, and R² on it."""
    return {"n_first": blocks.n_first, "n_models": blocks.sizes, "n_models_fit": blocks.fitted, "r2_median": blocks.r2}


def _fresh(fresh: FreshCheck) -> dict[str, Any]:
    """By family, what fresh models say of its findings and of others; without the dots."""
    families = {
        family.name: {
            "n_tests": family.n_tests,
            "n_findings": family.n_found,
            "findings": None if family.findings is None else asdict(family.findings),
            "others": None if family.others is None else asdict(family.others),
        }
        for family in fresh.families
    }
    return {"n_models": fresh.n_models, "families": families}


def _expectation(expectation: Expectation) -> dict[str, Any]:
    """What the fit rows expected, and what came; without the weights, which are in tests.csv."""
    return {
        "expected": expectation.expected,
        "interval": expectation.interval,
        "expected_by": expectation.expected_by,
        "reason": expectation.reason,
        "weight_range": expectation.weight_range,
        "centre": expectation.centre,
        "u": expectation.u.tolist(),
        "predicted": expectation.predicted.tolist(),
        "realised": expectation.realised.tolist(),
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
