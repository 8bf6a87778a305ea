"""Findings of the atlas, and as many other influences of single images, by the set and by fresh models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from datamodels_inf.atlas import AtlasMaker, tile_targets
from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import MARGINAL
from datamodels_inf.internal.checks import Ints
from pipeline.stages.atlas.found import Found
from pipeline.stages.fresh.compared import Compared, Estimates, n_others
from pipeline.stages.fresh.models import FreshModels
from pipeline.stages.inputs import Fitted

MOST = 200_000
"""Findings, and others, that are compared; of more, a sample."""
MEMORY_GB = 1.0


@dataclass(frozen=True, eq=False)
class ChosenCells:
    """place: of the target in the atlas, ascending. n_tests, n_found: of the whole atlas."""

    place: Ints
    image: Ints
    tests: Compared
    n_tests: int
    n_found: int


def choose_cells(found: Found, seed: int, advance: Callable[[float], object]) -> ChosenCells:
    """All findings, or MOST of them, and as many others; all cells have the same chance."""
    rng, atlas = np.random.default_rng(seed), found.atlas
    n_targets, d = len(atlas.targets), atlas.summary.n_train
    counts = np.array([np.count_nonzero(found.is_finding(place)) for place in range(n_targets)])
    n_found = int(counts.sum())
    wanted = min(n_found, MOST), min(n_others(n_found, int((d - counts).sum())), MOST)
    shares = [
        rng.multivariate_hypergeometric(there, count, method="marginals")
        for there, count in zip((counts, d - counts), wanted, strict=True)
    ]
    places, images = [], []
    for one in range(n_targets):
        is_found = found.is_finding(one)
        for kind, share in ((is_found, shares[0]), (~is_found, shares[1])):
            images.append(np.sort(rng.choice(np.flatnonzero(kind), share[one], replace=False)))
            places.append(np.full(share[one], one))
        advance(1)
    place, image = np.concatenate(places), np.concatenate(images)
    return ChosenCells(place, image, _figures(found, place, image), n_targets * d, n_found)


def _figures(found: Found, place: Ints, image: Ints) -> Compared:
    """By the set; `place` is ascending."""
    effect, error, level = np.empty((3, len(place)))
    is_found = np.zeros(len(place), np.bool_)
    for one, start in zip(*np.unique(place, return_index=True), strict=True):
        some = slice(start, int(np.searchsorted(place, one, "right")))
        images = image[some]
        effect[some], error[some] = (values[images] for values in found.atlas.of_target(one))
        is_found[some], level[some] = found.is_finding(one, images), found.levels(one, images)
    freedom = np.full(len(place), found.atlas.summary.n_models - 1.0)
    low, high = effect_interval(effect, error, freedom, MARGINAL)
    selected = effect_interval(effect, error, freedom, level)
    low_selected, high_selected = (np.where(is_found, ends, np.nan) for ends in selected)
    return Compared(is_found, effect, error, low, high, low_selected, high_selected)


def cell_effects(
    models: FreshModels,
    fitted: Fitted,
    targets: Ints,
    cells: ChosenCells,
    threads: int,
    advance: Callable[[float], object],
) -> Estimates:
    """Δ_f of single images, as the atlas estimates them. targets: of the atlas."""
    maker = AtlasMaker(models.masks, threads, tails=False)
    size = tile_targets(len(models), models.masks.n_train, MEMORY_GB, threads)
    made = Estimates.empty(len(cells.place))
    made.freedom[:] = len(models) - 1.0
    for first in range(0, len(targets), size):
        some = targets[first : first + size]
        datamodel = fitted.datamodel.subset(fitted.places(some))
        tile = maker.tile(range(first, first + len(some)), models.margins[:, some], [datamodel], advance)
        own = slice(*np.searchsorted(cells.place, (first, first + len(some))))
        where = cells.place[own] - first, cells.image[own]
        made.estimate[own], made.standard_error[own] = tile.estimate[where], tile.standard_error[where]
    return made
