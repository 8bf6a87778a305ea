"""How sure the ranks of a target's strongest images are."""

from __future__ import annotations

import numpy as np

from datamodels_inf.findings import MARGINAL
from datamodels_inf.influence_ranks import rank_intervals
from datamodels_inf.internal.checks import Ints
from datamodels_inf.pooled import pooled_target
from pipeline.report.content.influences import Rank
from pipeline.report.evidence.curves import HeldOut


def ranks_of(
    target: int, images: Ints, held_out: HeldOut, threads: int = 1, *, higher_is_better: bool = True
) -> dict[int, Rank]:
    """Image → its rank among all images of the target; all intervals of a target hold together at 95 %.

    Rank 1 helps most: it raises the outcome most, or where a lower one is better, lowers it most.
    """
    if not images.size:
        return {}
    (blocks,) = held_out.prepared(np.array([target]))
    margins, theta = pooled_target(held_out.masks, blocks)
    sign = 1.0 if higher_is_better else -1.0
    found = rank_intervals(
        held_out.masks,
        sign * margins,
        theta=sign * theta,
        images=images,
        confidence=MARGINAL,
        threads=threads,
    )
    ends = zip(found.rank.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return {
        int(image): Rank(*three, found.in_words(k)) for k, (image, three) in enumerate(zip(images, ends, strict=True))
    }
