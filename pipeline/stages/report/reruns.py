"""What the robustness stage left, as the report shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pipeline.images.image_set import Labels
from pipeline.report.content.reruns import Agreement, Alike, Case, Rerun, Robustness
from pipeline.store.cache import Result
from pipeline.summaries import CaseSummary, RobustnessSummary, read_summary
from pipeline.text.numbers import or_nan
from pipeline.text.rerun_roles import explanation


def reruns_of(inputs: Mapping[str, Result], labels: Labels | None) -> Robustness | None:
    """The re-runs, if there were any."""
    from pyarrow import parquet

    if "robustness" not in inputs:
        return None
    summary = read_summary(inputs["robustness"], RobustnessSummary)
    rows = parquet.read_table(inputs["robustness"].folder / "reruns.parquet").to_pylist()
    cases = [_case(case, [row for row in rows if row["case"] == k]) for k, case in enumerate(summary.cases)]
    return Robustness(
        method=summary.method,
        metric=summary.metric,
        explanation=explanation(summary),
        n_tests=summary.n_tests,
        n_models=summary.n_held_out,
        classes={} if labels is None else _classes([rerun for case in cases for rerun in case.reruns], labels),
        cases=tuple(cases),
    )


def _case(case: CaseSummary, rows: Iterable[Mapping[str, Any]]) -> Case:
    """rows: its re-runs."""
    near_i, near_j = (
        tuple(
            Alike(index, distance, index in near.near_copies)
            for index, distance in zip(near.images, near.distances, strict=True)
        )
        for near in (case.near["i"], case.near["j"])
    )
    agreed = {
        role: Agreement(found.n, or_nan(found.same_sign), or_nan(found.effects), or_nan(found.pvalues))
        for role, found in case.agreement.items()
    }
    names = [field.name for field in fields(Rerun)]
    reruns = tuple(Rerun(**{name: row[name] for name in names}) for row in rows)
    return Case(case.finding or 0, case.i, case.j, case.targets, near_i, near_j, agreed, reruns)


def _classes(shown: Sequence[Rerun], labels: Labels) -> dict[tuple[str, int], str]:
    """Of ("train", i) and ("target", t), of all images that are shown."""
    images = {index for rerun in shown for index in (rerun.i, rerun.j)}
    classes = {("train", k): labels.class_names[labels.train_labels[k]] for k in images}
    return classes | {("target", r.target): labels.class_names[labels.target_labels[r.target]] for r in shown}
