"""Which re-runs a case needs: its targets, look-alikes of its two images, and two kinds of controls.

A case is a pair (i, j) with some targets. Its re-runs are, for each target t:

    original     (i, j, t)
    neighbour    (i′, j′, t) for all look-alikes i′ of i and j′ of j
    random       (i″, j″, t) for as many other images of the same classes, drawn by a seed
    target       (i, j, t′) for the look-alikes t′ of t
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from datamodels_inf.internal.checks import Ints
from datamodels_inf.neighbours.neighbours import Neighbours
from pipeline.config import Robustness
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.robustness.look_alikes import LookAlikes, Metric
from pipeline.summaries import AgreementSummary, CaseSummary, LookAlikesSummary
from pipeline.text import rerun_roles

ROLES = tuple(rerun_roles.ROLES)
ORIGINAL, NEIGHBOUR, RANDOM, TARGET = range(4)


@dataclass(frozen=True)
class Case:
    """A pair to test again: of finding `number`, on whose target it begins, or (number 0) of the user's own."""

    number: int
    i: int
    j: int
    target: int | None = None


@dataclass(frozen=True, eq=False)
class Reruns:
    """The re-runs of a case, one entry each; `of` is the target whose original a re-run is compared with."""

    case: Case
    targets: Ints
    role: Ints
    i: Ints
    j: Ints
    target: Ints
    of: Ints
    near: dict[str, Neighbours]
    """Of "i" and "j", and of each target, "target 7", that has any."""

    def summary(self, agreement: Mapping[str, AgreementSummary]) -> CaseSummary:
        """Who the look-alikes are, how far, which are all but copies, and how far the re-runs agree."""
        near = {
            name: LookAlikesSummary(
                images=tuple(found.index.tolist()),
                distances=tuple(found.distance.tolist()),
                near_copies=tuple(found.index[found.near_copy].tolist()),
                typical=found.typical,
            )
            for name, found in self.near.items()
        }
        return CaseSummary(
            finding=self.case.number or None,
            i=self.case.i,
            j=self.case.j,
            targets=tuple(self.targets.tolist()),
            near=near,
            agreement=agreement,
        )


def draw_reruns(case: Case, robustness: Robustness, data: Data, fitted: Fitted, metric: Metric) -> Reruns:
    """All re-runs of a case."""
    find = LookAlikes(metric, data.labels, robustness)
    tested = _targets(case, robustness, data, fitted)
    pair = np.array([case.i, case.j])
    vectors = metric.vectors("targets", pair, tested)
    spare = np.setdiff1d(fitted.targets, tested)
    near_targets = {t: find.of_target(vectors, t, np.append(spare, t)) for t in tested.tolist()}
    vectors = metric.vectors("train", pair, tested)
    near = find.of_pair(vectors, case.i, case.j)
    rng = np.random.default_rng([robustness.seed, case.i, case.j])
    random = _random(case, near, find, robustness, data.n_train, rng)
    rows = [(ORIGINAL, case.i, case.j, t, t) for t in tested.tolist()]
    for role, (left, right) in ((NEIGHBOUR, (near[0].index, near[1].index)), (RANDOM, random)):
        rows += [(role, a, b, t, t) for t in tested.tolist() for a in left.tolist() for b in right.tolist() if a != b]
    rows += [
        (TARGET, case.i, case.j, other, t)
        for t, found in near_targets.items()
        if found is not None
        for other in found.index.tolist()
    ]
    role, i, j, target, of = np.array(rows, np.int64).T
    named = {"i": near[0], "j": near[1]}
    named |= {f"target {t}": found for t, found in near_targets.items() if found is not None}
    return Reruns(case, tested, role, i, j, target, of, named)


def _targets(case: Case, robustness: Robustness, data: Data, fitted: Fitted) -> Ints:
    """Those that are named, or the finding's own and those on which θ̂ sets i and j apart most.

    θ̂ is of rows that are never tested.
    """
    if robustness.targets:
        for target in robustness.targets:
            if target not in fitted.targets:
                raise BadInputError(
                    f"robustness.targets names target {target}, which has no datamodel; see fit.targets, or choose of "
                    f"{_some(fitted.targets)}."
                )
        return np.array(robustness.targets, np.int64)
    candidates = fitted.targets
    if case.target is not None and robustness.same_class and data.labels is not None:
        labels = data.labels.target_labels
        candidates = candidates[labels[candidates] == labels[case.target]]
    weight = fitted.first.weight[:, fitted.places(candidates)]
    apart = np.abs(weight[case.i].astype(np.float64) - weight[case.j])
    order = candidates[np.lexsort((candidates, -apart, candidates != case.target))]
    return order[: robustness.n_targets]


def _random(
    case: Case,
    near: tuple[Neighbours, Neighbours],
    find: LookAlikes,
    robustness: Robustness,
    n_train: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """As many images of the classes of i and j, none of them a look-alike."""
    taken = np.concatenate([[case.i, case.j], near[0].index, near[1].index])
    chosen = []
    for image in (case.i, case.j):
        rest = np.setdiff1d(find.same_kind("train", image, n_train), taken)
        if rest.size < robustness.neighbours:
            others = "others of its class" if robustness.same_class else "others"
            raise BadInputError(
                f"training image {image} has {rest.size:,} {others} left for random replacements beside its "
                f"neighbours, but robustness.neighbours is {robustness.neighbours}: lower it, or set "
                "robustness.same_class = false."
            )
        chosen.append(np.sort(rng.choice(rest, robustness.neighbours, replace=False)))
        taken = np.concatenate([taken, chosen[-1]])
    return chosen[0], chosen[1]


def _some(numbers: Ints) -> str:
    shown = ", ".join(map(str, numbers[:8].tolist()))
    return f"{shown}, …" if len(numbers) > 8 else shown
