"""An atlas of made-up models as the report reads it, with the masks and margins that it comes from."""

from dataclasses import dataclass

import numpy as np
from one_block import blocks_of
from report_content import NAMES

from datamodels_inf import PackedMasks, influence_atlas
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.influence import influence_pvalue
from datamodels_inf.multiplicity import adjust_pvalues, selected_confidence
from pipeline.report.evidence.curves import HeldOut
from pipeline.report.evidence.influences import FoundAtlas, influences_on, shown_targets
from pipeline.report.evidence.influential_images import overall


@dataclass(frozen=True, eq=False)
class Models:
    """Margins of 12 targets are sums over 12 images, with noise; the datamodel knows the weights roughly.

    Column k of the atlas belongs to target `targets[k]`.
    """

    masks: np.ndarray
    margins: np.ndarray
    datamodel: Datamodel
    targets: np.ndarray

    @property
    def held_out(self):
        packed = PackedMasks.from_bool(self.masks)
        return HeldOut(
            packed,
            lambda some: blocks_of(packed, self.margins[:, some], self.datamodel.subset(some)),
            self.datamodel,
            np.arange(12),
            "permuted",
            0,
        )


def make_models(n=400, targets=(5, 2, 7, 0, 9), effect=0.3, always_in=()):
    rng = np.random.default_rng(3)
    masks = rng.permuted(np.tile(np.arange(12) < 6, (n, 1)), axis=1)
    masks[:, list(always_in)] = True
    true = effect * rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.4)
    margins = (masks @ true + rng.normal(size=(n, 12))).astype(np.float16)
    weight = np.where(rng.random((12, 12)) < 0.8, true + rng.normal(0, 0.05, (12, 12)), 0.0)
    return Models(masks, margins, Datamodel(weight, np.zeros(12), np.full(12, np.nan)), np.array(targets))


def make_found(models, family="target", correction="by", names=NAMES, alpha=0.2):
    """What the stages leave, by a naive way: all p-values at once."""
    fitted = models.datamodel.subset(models.targets)
    tiles = list(influence_atlas(models.masks, models.margins[:, models.targets], fitted))
    estimate, error = (
        np.concatenate([getattr(tile, name) for tile in tiles]).astype(np.float32)
        for name in ("estimate", "standard_error")
    )
    p = influence_pvalue(estimate, error, len(models.masks))
    families = [p.ravel()] if family == "all" else list(p)
    adjusted = np.concatenate([adjust_pvalues(one, correction) for one in families]).reshape(p.shape)
    found = adjusted <= alpha
    nonzero = fitted.weight.T != 0
    m, together = p.size if family == "all" else p.shape[1], np.full(len(p), found.sum())
    counts = (together if family == "all" else found.sum(axis=1)).tolist()
    level = np.array([selected_confidence(correction, alpha, m, count) if count else np.nan for count in counts])
    return FoundAtlas(
        targets=models.targets,
        of_target=lambda place: (estimate[place], error[place]),
        of_image=lambda image: (estimate[:, image], error[:, image]),
        pvalue=lambda place, estimate, error: influence_pvalue(estimate, error, len(models.masks)),
        is_finding=lambda place, images: found[place, images],
        level_at_one=level,
        levels=lambda place, images: np.maximum(0.95, np.full(len(images), level[place])),
        n_found=found.sum(axis=1),
        n_nonzero=nonzero.sum(axis=1),
        n_stand=(found & (fitted.weight.T * estimate > 0)).sum(axis=1),
        raised=(found & (estimate > 0)).sum(axis=0),
        lowered=(found & (estimate < 0)).sum(axis=0),
        family=family,
        alpha=alpha,
        correction=correction,
        held_out=models.held_out,
        names=lambda part, index: names[index % len(names)] if names else "",
    )


def make_influences(with_panels=None, models=None, **changes):
    """The content of the page; without panels, of the first four targets."""
    found = make_found(make_models() if models is None else models, **changes)
    targets = found.targets[:4].tolist() if with_panels is None else shown_targets(found, with_panels)
    return overall(found, tuple(influences_on(found, target) for target in targets))
