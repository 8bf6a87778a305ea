"""How sure the ranks of a target's strongest images are."""

from __future__ import annotations

import numpy as np

from datamodels_inf.influence_ranks import rank_intervals
from datamodels_inf.internal.checks import Ints
from pipeline.findings import MARGINAL
from pipeline.report.content.influences import Rank
from pipeline.report.evidence.curves import HeldOut


def ranks_of(target: int, images: Ints, held_out: HeldOut, threads: int = 1) -> dict[int, Rank]:
    """Image → its rank among all images of the target; all intervals of a target hold together at 95 %.

    The images were picked for their estimates, which are those that are ranked: so the intervals must hold for all
    d(d − 1)/2 pairs of images and not only for those of the k picked, and `rank_intervals`, which divides its error
    among 2·k(d − 1) tails, gets 2k/d of it.
    """
    if not images.size:
        return {}
    d = held_out.masks.n_train
    error = (1.0 - MARGINAL) * min(1.0, 2.0 * len(images) / d)
    coded = held_out.datamodel.subset([held_out.position(target)]).in_mask_coding()
    found = rank_intervals(
        held_out.masks,
        held_out.margins(np.array([target]))[:, 0],
        theta=coded.weight[:, 0],
        bias=float(coded.bias[0]),
        images=images,
        confidence=1.0 - error,
        threads=threads,
    )
    ends = zip(found.rank.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    return {
        int(image): Rank(*three, found.in_words(k)) for k, (image, three) in enumerate(zip(images, ends, strict=True))
    }
