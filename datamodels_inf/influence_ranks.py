"""How sure is a rank: "image i is certainly among the four most helpful images of this target".

Two estimates of `influence` differ by Δ̂_i − Δ̂_j, whose standard error is known as well: g_i − g_j = (x_i − x_j)·e, so

    SE_ij = sd((x_i − x_j)·e)/(√n·κ),    Σ (x_i − x_j)²e² = Σ x_i e² + Σ x_j e² − 2 Σ x_i x_j e².

Image i certainly stands above j if (Δ̂_i − Δ̂_j)/SE_ij exceeds a quantile that is divided among both tails of all
d(d − 1)/2 pairs of images (Bonferroni). Its rank lies between 1 + the number of images certainly above it and d − the
number certainly below: all these intervals hold together with the given confidence, asymptotically as the p-values do,
also for images that were picked because the same estimates are large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from datamodels_inf.atlas import BLOCK
from datamodels_inf.datamodel import Masks
from datamodels_inf.influence import MaskLaw, in_units, influence, residuals
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.internal.whole_sums import ColumnWords, WholeNumbers, column_sums
from datamodels_inf.masks import PackedMasks, check_indices


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The ranks of `images`, one entry each, by estimate; 1 is the most helpful of all d.

    low = 1 + the number of images that are certainly above, high = d − the number that are certainly below.
    """

    images: Ints
    rank: Ints
    low: Ints
    high: Ints
    d: int
    confidence: float

    def in_words(self, place: int) -> str:
        """ "rank 1, certainly among the first 4", seen from the nearer end."""
        rank, low, high = int(self.rank[place]), int(self.low[place]), int(self.high[place])
        if 2 * rank <= self.d:
            return f"rank {rank}, {_among(low, high, self.d, 'first')}"
        low, high = self.d + 1 - high, self.d + 1 - low
        return f"rank {self.d + 1 - rank} from below, {_among(low, high, self.d, 'last')}"


def rank_intervals(
    masks: Masks,
    margins: ArrayLike,
    *,
    theta: ArrayLike,
    bias: float = 0.0,
    images: ArrayLike,
    confidence: float = 0.95,
    threads: int = 1,
) -> RankIntervals:
    """Intervals for the ranks of `images` among all images of a target, which hold together.

    The arguments are those of `influence`. Costs about one pass over the masks for 16 images.

    >>> rng = np.random.default_rng(0)
    >>> masks = rng.random((400, 20)) < 0.5
    >>> margins = masks[:, 3] + 0.3 * rng.standard_normal(400)
    >>> found = rank_intervals(masks, margins, theta=np.zeros(20), images=[3, 7])
    >>> found.in_words(0)
    'rank 1, certainly the first'
    >>> found.low, found.high  # Image 7 may be anywhere below.
    (array([1, 2]), array([ 1, 20]))
    """
    packed = PackedMasks.of(masks)
    found = influence(packed, margins, theta=theta, bias=bias, confidence=confidence, threads=threads)
    chosen = check_indices("images", np.asarray(images), packed.n_train)
    scaled, unit = in_units(residuals(packed, margins, theta, bias, threads)[None])
    e, estimate = scaled[0], found.estimate / unit[0]
    limit = float(stdtrit(found.n - 1.0, 1.0 - (1.0 - confidence) / (packed.n_train * (packed.n_train - 1.0))))
    law, known = MaskLaw.of(packed), np.isfinite(found.standard_error)
    better, worse = np.zeros((2, len(chosen)), np.int64)
    words = ColumnWords(packed, threads)
    own, squares = (column_sums(packed, values, threads) for values in (e, e**2))
    for start in range(0, len(chosen), BLOCK):
        some = chosen[start : start + BLOCK]
        both = words.sums(WholeNumbers.of(packed.columns(some) * (e**2)[:, None])).T
        above = _differences(law, estimate, known, some, own, squares, both)
        better[start : start + BLOCK] = (above < -limit).sum(axis=1)
        worse[start : start + BLOCK] = (above > limit).sum(axis=1)
    order = np.argsort(np.argsort(-found.estimate, kind="stable"), kind="stable") + 1
    d = packed.n_train
    return RankIntervals(chosen, order[chosen], 1 + better, d - worse, d, confidence)


def _differences(
    law: MaskLaw,
    estimate: Floats,
    known: NDArray[np.bool_],
    some: Ints,
    own: Floats,
    squares: Floats,
    both: Floats,
) -> Floats:
    """(images, d): (Δ̂_i − Δ̂_j)/SE_ij; 0 where j is i, or where either is not known. All in units of e."""
    n = len(law.share)
    total = own[some, None] - own
    variance = np.maximum(squares[some, None] + squares - 2.0 * both - total**2 / n, 0.0) / (n - 1.0)
    difference = estimate[some, None] - estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference * law.kappa / np.sqrt(variance / n)
    ratio[~(known[some, None] & known) | (variance == 0.0)] = 0.0  # Two images that no model tells apart, say.
    ratio[np.arange(len(some)), some] = 0.0
    return ratio


def _among(low: int, high: int, d: int, end: str) -> str:
    if high == 1:
        return f"certainly the {end}"
    return f"certainly among the {end} {high}" if 2 * high <= d else f"anywhere from {low} to {high}"
