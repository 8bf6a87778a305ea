"""What the report looks up in the atlas: the strongest images of some targets, their intervals and their ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import MARGINAL
from datamodels_inf.internal.checks import Floats, Ints
from pipeline.report.content import Gallery, Weighted
from pipeline.report.content.influences import Single, TargetInfluences
from pipeline.report.evidence.curves import HeldOut
from pipeline.report.evidence.image_ranks import ranks_of

TOP = 5  # helpers, and hurters, of a target
MOST_TARGETS, FEW_TARGETS = 8, 4  # that are shown, and where none has a panel or a finding

Estimates: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Estimates and standard errors."""
Names: TypeAlias = Callable[[str, int], str]
"""("train" or "target", index) → its class, empty where that is not known."""


@dataclass(frozen=True, eq=False)
class FoundAtlas:
    """What the stages atlas and influence left.

    targets: their numbers, in the order of the atlas; their places there are what is asked for below. of_target: of
    all images on the target at a place. of_image: of an image on all targets. is_finding(place, images): which are.
    pvalue(place, estimates, standard errors).
    level_at_one: of the longer intervals of findings of weight 1, of each target. levels(place, images): of each.
    n_found, n_nonzero, n_stand: of each target. raised, lowered: of each image. family: "target" or "all".
    warning: what spoils the p-values. higher_is_better: whether an image helps that raises the outcome.
    """

    targets: Ints
    of_target: Callable[[int], Estimates]
    of_image: Callable[[int], Estimates]
    is_finding: Callable[[int, Ints], NDArray[np.bool_]]
    pvalue: Callable[[int, NDArray[Any], NDArray[Any]], Floats]
    level_at_one: Floats
    levels: Callable[[int, Ints], Floats]
    n_found: Ints
    n_nonzero: Ints
    n_stand: Ints
    raised: Ints
    lowered: Ints
    family: str
    alpha: float
    correction: str
    held_out: HeldOut
    names: Names
    threads: int = 1
    warning: str = ""
    higher_is_better: bool = True

    @property
    def n_models(self) -> int:
        """The models that tested."""
        return self.held_out.masks.n_models

    @property
    def n_train(self) -> int:
        """Images of which each target has an influence."""
        return len(self.raised)

    @cached_property
    def places(self) -> Mapping[int, int]:
        """Target → its place."""
        return {target: place for place, target in enumerate(self.targets.tolist())}

    def family_found(self, place: int) -> int:
        """Findings that are corrected together with those of a target."""
        return int(self.n_found.sum() if self.family == "all" else self.n_found[place])

    def level(self, place: int) -> float:
        """Of the longer intervals of a target's findings of weight 1; NaN where its family has none."""
        return float(np.maximum(MARGINAL, self.level_at_one[place]))

    def weights(self, place: int) -> Floats:
        """θ̂ of a target."""
        return self.held_out.datamodel.weight[:, self._column(place)].astype(np.float64)

    def _column(self, place: int) -> int:
        return self.held_out.position(int(self.targets[place]))


def shown_targets(found: FoundAtlas, with_panels: Sequence[int]) -> list[int]:
    """Those with a panel, then those with most findings; where there is neither, the first of the atlas.

    Few, for the page is to be sent by mail.
    """
    order = np.argsort(-found.n_found, kind="stable")
    moved = found.targets[order[found.n_found[order] > 0]].tolist()
    known = [target for target in dict.fromkeys([*with_panels, *moved]) if target in found.places]
    return known[:MOST_TARGETS] or found.targets[:FEW_TARGETS].tolist()


def influences_on(found: FoundAtlas, target: int) -> TargetInfluences:
    """The strongest images by estimate, with their ranks, and all findings."""
    place = found.places[target]
    raising, lowering = strongest(*found.of_target(place))
    helpers, hurters = (raising, lowering) if found.higher_is_better else (lowering, raising)
    shown = np.concatenate([helpers, hurters])
    ranks = ranks_of(target, shown, found.held_out, found.threads, higher_is_better=found.higher_is_better)
    ranked = [
        replace(single, rank=ranks[single.image])
        for single in singles_of(found, place, np.array(list(ranks), np.int64))
    ]
    every = np.flatnonzero(found.is_finding(place, np.arange(found.n_train)))
    findings = sorted(singles_of(found, place, every), key=lambda single: (-single.effect, single.image))
    return TargetInfluences(
        target=target,
        class_target=found.names("target", target),
        helpers=tuple(ranked[: len(helpers)]),
        hurters=tuple(ranked[len(helpers) :]),
        findings=tuple(findings),
        n_nonzero=int(found.n_nonzero[place]),
        n_stand=int(found.n_stand[place]),
        family_found=found.family_found(place),
        level=found.level(place),
    )


def strongest(estimate: NDArray[np.float32], error: NDArray[np.float32]) -> tuple[Ints, Ints]:
    """(raising, lowering): the largest positive, the smallest negative estimates, of images with a standard error."""
    known = np.flatnonzero(np.isfinite(estimate) & np.isfinite(error))
    order = known[np.argsort(-estimate[known], kind="stable")]
    return order[estimate[order] > 0.0][:TOP], order[::-1][estimate[order[::-1]] < 0.0][:TOP]


def singles_of(found: FoundAtlas, place: int, images: Ints) -> list[Single]:
    """The influences of some images on the target at a place."""
    estimate, error = (values[images].astype(np.float64) for values in found.of_target(place))
    freedom = np.full(1, found.n_models - 1.0)
    is_finding, theta, target = found.is_finding(place, images), found.weights(place)[images], int(found.targets[place])
    low, high = effect_interval(estimate, error, freedom, MARGINAL)
    selected = np.full((2, len(images)), np.nan)
    if is_finding.any():
        selected = np.where(is_finding, effect_interval(estimate, error, freedom, found.levels(place, images)), np.nan)
    p = found.pvalue(place, estimate, error)
    columns = (images, theta, estimate, error, low, high, p, is_finding, *selected)
    class_target = found.names("target", target)
    return [
        Single(target, image, class_target, found.names("train", image), *values)
        for image, *values in zip(*(column.tolist() for column in columns), strict=True)
    ]


def with_influences(galleries: Mapping[int, Gallery], found: FoundAtlas) -> dict[int, Gallery]:
    """The galleries, each image with its influence where the atlas has the target."""

    def side(target: int, images: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
        indices = np.array([image.index for image in images], np.int64)
        singles = singles_of(found, found.places[target], indices)
        return tuple(replace(image, single=single) for image, single in zip(images, singles, strict=True))

    return {
        target: Gallery(side(target, gallery.helpers), side(target, gallery.hurters))
        if target in found.places
        else gallery
        for target, gallery in galleries.items()
    }
