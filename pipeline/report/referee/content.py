"""What the referee's page shows, before it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.report.content import Images
from pipeline.summaries import RefereeSummary
from pipeline.text.nouns import noun_of
from pipeline.text.referee_words import LEAK, leak_words

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class RefereeContent:
    """pairs, contradictions: the tables of the stage. unseen: the user answers for it that no tested model was used.

    awaits_images: it is images that were trained on, though they could not be had.
    """

    title: str
    summary: RefereeSummary
    pairs: Columns
    contradictions: Columns
    images: Images | None
    labels: Labels | None
    names: ItemNames
    unseen: bool
    provenance: Mapping[str, str]
    awaits_images: bool = False

    def label(self, part: str, index: int) -> str:
        """What a training image ("train") or target is called: its own name, or its class, or nothing."""
        return self.names.of(part, index) or self.class_of(part, index)

    def class_of(self, part: str, index: int) -> str:
        """The class of a training image or target; empty where it is not known."""
        if self.labels is None:
            return ""
        numbers = self.labels.train_labels if part == "train" else self.labels.target_labels
        return str(self.labels.class_names[int(numbers[index])])

    @property
    def noun(self) -> str:
        """What is trained on: "image" where it is known to be one, else "item"."""
        return noun_of(are_images=self.images is not None or self.awaits_images)

    @property
    def leak(self) -> str:
        """What is to be said about models that the scores may have seen."""
        return leak_words(self.summary, self.unseen)

    @property
    def may_leak(self) -> bool:
        """Whether that is a warning."""
        return self.leak.startswith(LEAK)


@dataclass(frozen=True)
class Claim:
    """One claim of one method: training on `better` instead of `worse` is better for the target.

    effect, low, high: of `better` instead of `worse` on the outcome itself, whether more of it is better or not.
    """

    method: str
    target: int
    better: int
    worse: int
    kind: str
    rank: int
    effect: float
    low: float
    high: float
    pvalue: float
    adjusted: float
    n_informative: int
    verdict: str


def claim_of(content: RefereeContent, pair: int, method: int) -> Claim:
    """The claim of a method on a pair, which it must have made."""
    from datamodels_inf.refereeing.claims import KINDS
    from datamodels_inf.refereeing.verdicts import CONFIRMED, REVERSED, UNPROVEN, UNTESTED

    p = {name: column[pair] for name, column in content.pairs.items()}
    straight = p[f"claim_{method}"] > 0
    ends = (p["effect"], p["low"], p["high"]) if straight else (-p["effect"], -p["high"], -p["low"])
    untested = np.isnan(p[f"adjusted_{method}"])
    verdict = UNTESTED if untested else {1: CONFIRMED, -1: REVERSED, 0: UNPROVEN}[int(p[f"verdict_{method}"])]
    better, worse = (p["i"], p["j"]) if straight else (p["j"], p["i"])
    return Claim(
        method=content.summary.methods[method].name,
        target=int(p["target"]),
        better=int(better),
        worse=int(worse),
        kind=KINDS[int(p[f"kind_{method}"])],
        rank=int(p[f"rank_{method}"]),
        effect=float(ends[0]),
        low=float(ends[1]),
        high=float(ends[2]),
        pvalue=float(p["pvalue"]),
        adjusted=float(p[f"adjusted_{method}"]),
        n_informative=int(p["n_informative"]),
        verdict=verdict,
    )
