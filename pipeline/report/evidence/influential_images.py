"""What the report looks up in the atlas over all targets: the training images that move most of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from datamodels_inf.internal.checks import Ints
from pipeline.report.content.influences import Influences, Influential, Single, TargetInfluences
from pipeline.report.evidence.influences import FoundAtlas, singles_of

MOST = 6  # images of a list
STRONGEST = 4  # targets of an image


def overall(found: FoundAtlas, targets: tuple[TargetInfluences, ...]) -> Influences:
    """The counts, the images that move most targets, and what is shown of `targets`."""
    seen = found.held_out.masks.column_sums()
    own = OwnClass.of(found)
    return Influences(
        family=found.family,
        correction=found.correction,
        n_models=found.n_models,
        n_train=found.n_train,
        n_targets=len(found.targets),
        n_tests=len(found.targets) * found.n_train,
        n_found=int(found.n_found.sum()),
        n_nonzero=int(found.n_nonzero.sum()),
        n_stand=int(found.n_stand.sum()),
        n_unknown=int(np.count_nonzero((seen == 0) | (seen == found.n_models))),
        n_moving=int(np.count_nonzero(found.raised + found.lowered)),
        share=float(seen.mean() / found.n_models),
        targets=targets,
        raising=_first(found, own, found.raised, found.lowered),
        lowering=_first(found, own, found.lowered, found.raised),
        doubtful=_doubtful(found, own),
        warning=found.warning,
    )


@dataclass(frozen=True, eq=False)
class OwnClass:
    """Of each image, how many targets of its own class it raises and lowers, of the n_targets that there are."""

    raised: Ints
    lowered: Ints
    n_targets: Ints

    @classmethod
    def of(cls, found: FoundAtlas) -> OwnClass | None:
        """None where classes are not known."""
        classes = np.array([found.names("train", k) for k in range(found.n_train)])
        raised, lowered, n_targets = np.zeros((3, found.n_train), np.int64)
        if not (classes != "").any():
            return None
        for place, target in enumerate(found.targets.tolist()):
            images = np.flatnonzero(classes == found.names("target", target))
            n_targets[images] += 1
            images = images[found.is_finding(place, images)]
            estimate = found.of_target(place)[0][images]
            raised[images] += estimate > 0
            lowered[images] += estimate < 0
        return cls(raised, lowered, n_targets)


def _doubtful(found: FoundAtlas, own: OwnClass | None) -> tuple[Influential, ...]:
    """The images that hurt most targets of their own class, none that helps as many of them."""
    if own is None:
        return ()
    sides = [(own.raised, own.lowered), (found.raised, found.lowered)]
    (helped, hurt), (_, hurt_overall) = sides if found.higher_is_better else [side[::-1] for side in sides]
    return _first(found, own, np.where(hurt > helped, hurt, 0), hurt_overall)


def _first(found: FoundAtlas, own: OwnClass | None, count: Ints, then: Ints) -> tuple[Influential, ...]:
    """The images with the largest counts, none without one; of equals, those with more of `then`."""
    order = np.lexsort((np.arange(len(count)), -then, -count))[:MOST]
    return tuple(_image(found, own, image) for image in order[count[order] > 0].tolist())


def _image(found: FoundAtlas, own: OwnClass | None, image: int) -> Influential:
    return Influential(
        image=image,
        class_image=found.names("train", image),
        raised=int(found.raised[image]),
        lowered=int(found.lowered[image]),
        own_raised=int(own.raised[image]) if own is not None and own.n_targets[image] else None,
        own_lowered=int(own.lowered[image]) if own is not None and own.n_targets[image] else None,
        strongest=_moved(found, image),
    )


def _moved(found: FoundAtlas, image: int) -> tuple[Single, ...]:
    """The influences of an image that are findings, the strongest first."""
    estimate, _ = found.of_image(image)
    places = np.argsort(-np.abs(estimate), kind="stable")
    moved = (place for place in places.tolist() if found.is_finding(place, np.array([image]))[0])
    count = min(STRONGEST, int(found.raised[image] + found.lowered[image]))
    return tuple(single for place in islice(moved, count) for single in singles_of(found, place, np.array([image])))
