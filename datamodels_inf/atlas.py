"""The atlas: the influence of every image on many targets, with error bars (one target: `influence`).

The masks are transposed once. Then 16 targets share one pass over them: predictions f = xᵀθ̂ are sums along rows, and
Σ_m x_mi·e_m sums along columns, both looked up in tables of subset sums (`kernels/subset_tables`), exact in whole
numbers. So an entry has the same bits in whatever tile and by whatever number of threads it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel, Masks
from datamodels_inf.influence import MaskLaw, in_units, influence_pvalue
from datamodels_inf.influence_tail import Tail
from datamodels_inf.internal.checks import Floats, some_of
from datamodels_inf.internal.threads import in_threads
from datamodels_inf.internal.whole_sums import ColumnWords, RowWords, WholeNumbers
from datamodels_inf.masks import PackedMasks
from datamodels_inf.pooled import pooled_residuals

BLOCK = 16
"""Targets that the kernels take together."""
GB = 10**9


@dataclass(frozen=True, eq=False)
class AtlasTile:
    """The influence of all d images on some targets: row k of (targets, d) arrays belongs to targets[k].

    estimate: Δ̂_ki = θ̂_ki − mean_{j≠i} θ̂_kj + (1/n)·Σ_m (x_mi − S_m/d)·e_mk/κ, standard_error: its SE (`influence`).
    tails: of each target, as in `Influence`; empty where none is needed.
    """

    targets: range
    estimate: Floats
    standard_error: Floats
    n: int
    tails: tuple[Tail, ...] = ()

    @property
    def pvalue(self) -> Floats:
        """As in `Influence`."""
        tails = self.tails or [None] * len(self.targets)
        rows = zip(self.estimate, self.standard_error, tails, strict=True)
        return np.stack([influence_pvalue(estimate, error, self.n, tail) for estimate, error, tail in rows])


def influence_atlas(
    masks: Masks,
    margins: NDArray[np.floating[Any]],
    datamodel: Datamodel,
    *,
    memory_gb: float = 2.0,
    threads: int = 1,
    tails: bool = True,
) -> Iterator[AtlasTile]:
    """`influence` of all images on all targets of `datamodel`, some targets at a time.

    margins : (n, n_targets), of the tested models; may be a memory map, of which a tile is read.
    memory_gb : what tiles, masks and work may take together; at least 16 targets are held.
    tails : False leaves out the tails that p-values need where masks do not hold half of the images; they cost 2 µs a
        model and target.

    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = masks[:, [3, 7]] + 0.3 * rng.standard_normal((400, 2))  # Target 0 learns from image 3, 1 from 7.
    >>> nothing = Datamodel(np.zeros((20, 2)), np.zeros(2), np.zeros(2))
    >>> [np.flatnonzero(p < 1e-6).tolist() for tile in influence_atlas(masks, margins, nothing) for p in tile.pvalue]
    [[3], [7]]
    """
    packed = PackedMasks.of(masks)
    if np.shape(margins) != (packed.n_models, datamodel.n_targets):
        raise ValueError(
            f"`margins` must have shape ({packed.n_models}, {datamodel.n_targets}), one row a mask and one column a "
            f"target, got {np.shape(margins)}."
        )
    if not memory_gb > 0.0:
        raise ValueError(f"`memory_gb` must be above 0, got {memory_gb}.")
    maker = AtlasMaker(packed, threads, tails=tails)
    size = tile_targets(packed.n_models, packed.n_train, memory_gb, threads)
    starts = range(0, datamodel.n_targets, size)
    tiles = [range(first, min(first + size, datamodel.n_targets)) for first in starts]
    return (
        maker.tile(tile, np.asarray(margins[:, tile.start : tile.stop]), [datamodel.subset(tile)]) for tile in tiles
    )


def tile_targets(n: int, d: int, memory_gb: float, threads: int) -> int:
    """How many targets a tile has, a multiple of 16."""
    masks = 2 * n * d / 8
    work = threads * BLOCK * (n + d) * 8 * 6
    a_target = 8 * (3 * d + n)
    return BLOCK * max(1, int((memory_gb * GB - masks - work) // (BLOCK * a_target)))


class AtlasMaker:
    """Masks of tested models, ready for sums; `tile` makes the estimates of any targets on them.

    bounds: where blocks of rows begin and the last ends, each with a datamodel of its own (`pooled`); one if None.
    """

    def __init__(
        self, masks: PackedMasks, threads: int = 1, *, tails: bool = True, bounds: Sequence[int] | None = None
    ) -> None:
        self.law = MaskLaw.of(masks)
        self.known = ~masks.constant_columns()
        self.bounds = (0, masks.n_models) if bounds is None else tuple(bounds)
        self.columns = ColumnWords(masks, threads)
        self.rows = [RowWords(masks.rows(*block)) for block in pairwise(self.bounds)]
        self.threads, self.tails = threads, tails

    def tile(
        self,
        targets: range,
        margins: NDArray[np.floating[Any]],
        datamodels: Sequence[Datamodel],
        progress: Callable[[float], object] = lambda count: None,
    ) -> AtlasTile:
        """Of some targets, which the caller knows as `targets`; margins: (n, targets). datamodels: one a block.

        `progress(k)` is called when k more targets are done, or as much of several; from one thread at a time.
        """
        n, d = len(self.law.share), self.law.d
        weights = datamodels[0].n_train
        if weights != d:
            raise ValueError(f"`masks` must have {weights} columns as the datamodel has weights, got {d}.")
        wrong = np.flatnonzero(~np.isfinite(margins).all(axis=0))
        if wrong.size:
            raise ValueError(f"`margins` must be finite, but those of target {some_of(wrong + targets.start)} are not.")
        coded = [datamodel.in_mask_coding() for datamodel in datamodels]
        estimate, error = np.empty((2, len(targets), d))
        tails: list[Tail | None] = [None] * len(targets)

        starts, lock = range(0, len(targets), BLOCK), Lock()
        inside = self.threads if len(starts) == 1 else 1  # Of one block, its sums are shared out.

        def told(share: float) -> None:
            with lock:
                progress(share)

        def block(first: int) -> None:
            some = slice(first, min(first + BLOCK, len(targets)))
            thetas = [np.ascontiguousarray(model.weight[:, some].T, np.float64) for model in coded]
            biases = [np.asarray(model.bias[some, None], np.float64) for model in coded]
            y = np.ascontiguousarray(margins[:, some].T, np.float64)
            third = len(y) / 3
            residuals = self._residuals(y, thetas, biases, inside, lambda share: told(share * third))
            e, weight = pooled_residuals(residuals, self.law.share, self.bounds)
            theta = np.sum([w * own for w, own in zip(weight, thetas, strict=True)], axis=0)
            scaled, unit = in_units(e)
            summed = (scaled, *self.law.squares(scaled))
            part = 2 * third / len(summed)
            sums = [
                self.columns.sums(WholeNumbers.of(values.T), inside, lambda share: told(share * part))
                for values in summed
            ]
            found = self.law.estimates(scaled, unit, self.known, sums, theta, theta.sum(axis=1))
            estimate[some], error[some] = found
            tails[some] = [self.law.tail(row) if self.tails else None for row in e]

        in_threads(block, starts, 1 if inside > 1 else self.threads)
        return AtlasTile(targets, estimate, error, n, tuple(tail for tail in tails if tail is not None))

    def _residuals(
        self,
        y: Floats,
        thetas: Sequence[Floats],
        biases: Sequence[Floats],
        threads: int,
        tell: Callable[[float], object],
    ) -> Floats:
        """y − b − xᵀθ̂, (T, n), with the datamodel of each row's block."""
        parts = []
        for (a, b), rows, theta, bias in zip(pairwise(self.bounds), self.rows, thetas, biases, strict=True):
            share = (b - a) / self.bounds[-1]
            sums = rows.sums(WholeNumbers.of(theta.T), threads, partial(_tell, tell, share))
            parts.append(y[:, a:b] - bias - sums.T)
        return np.concatenate(parts, axis=1)


def _tell(tell: Callable[[float], object], share: float, done: float) -> None:
    tell(share * done)
