"""What the robustness stage left, as the report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from pipeline.commands.robustness import explanation
from pipeline.images.image_set import Labels
from pipeline.report.content.reruns import Agreement, Alike, Case, Rerun, Robustness
from pipeline.store.cache import Result
from pipeline.summaries import RobustnessSummary, read_summary
from pipeline.text.numbers import or_nan


def reruns_of(inputs: Mapping[str, Result], labels: Labels | None) -> Robustness | None:
    """The re-runs, if there were any."""
    from pyarrow import parquet

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
            role: Agreement(f.n, or_nan(f.same_sign), or_nan(f.effects), or_nan(f.pvalues))
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
