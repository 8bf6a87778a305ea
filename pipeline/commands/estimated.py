"""A finished atlas as commands read it: influences of single images with intervals, findings, ranks and words.

Nothing is run here: a stage that is not cached is asked for in one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import MARGINAL, one_of
from datamodels_inf.influence_ranks import RankIntervals, rank_intervals
from datamodels_inf.internal.checks import Ints, some_of
from datamodels_inf.internal.cores import available_cores
from datamodels_inf.pooled import pooled_target
from pipeline.commands.aligned import called, named
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline
from pipeline.stages.atlas.found import Found
from pipeline.stages.atlas.influence import read_counts
from pipeline.stages.atlas.stage import STRATIFIED
from pipeline.stages.atlas.tiles import Atlas, Singles
from pipeline.stages.inputs import Data, Fitted, tested_targets
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.premise import spoiled_influences
from pipeline.store.cache import Result
from pipeline.summaries import InfluenceSummary, read_summary
from pipeline.text.given_names import one_line, outcome_name

NEEDED = ("download", "fit", "evidence", "atlas", "influence")
NO_ATLAS = (
    'this configuration has no atlas; add atlas.targets = "needed" (or "all", a class, or a list of targets) to it, '
    "or say --set atlas.targets=needed."
)


@dataclass(frozen=True)
class Single:
    """The influence of one training image on one target.

    low, high: MARGINAL interval. low_selected, high_selected: the one that makes up for the selection, NaN where it is
    no finding. n_found: findings of its family. theta: the image's weight in the datamodel. rank, of n_train, lies
    between rank_low and rank_high; rank_words say so. name_image, name_target: their own, empty for none. outcome: what
    the models' outcome is called; noun: what is trained on.
    """

    image: int
    target: int
    class_image: str
    class_target: str
    estimate: float
    standard_error: float
    low: float
    high: float
    low_selected: float
    high_selected: float
    pvalue: float
    finding: bool
    n_found: int
    theta: float
    rank: int
    rank_low: int
    rank_high: int
    rank_words: str
    name_image: str = ""
    name_target: str = ""
    outcome: str = "margin"
    noun: str = "image"

    @property
    def known(self) -> bool:
        """Whether some held-out models saw the image, and some did not."""
        return math.isfinite(self.standard_error)

    @property
    def words(self) -> str:
        """ "training on this 5 (train 12) instead of an average other image lowers the margin on this 3 (…) by …"."""
        this = called(self.class_image, "train", self.image, self.name_image, "this ", self.noun)
        that = called(self.class_target, "target", self.target, self.name_target, "this ")
        if not self.known:
            return (
                f"the influence of {this} on {that} is not known: every held-out model saw the {self.noun}, or none did"
            )
        verb = "raises" if self.estimate >= 0 else "lowers"
        return (
            f"training on {this} instead of an average other {self.noun} {verb} the {self.outcome} on {that} by "
            f"{abs(self.estimate):.3g}, 95 % interval {self._change(self.low, self.high)}{self._verdict}"
        )

    @property
    def _verdict(self) -> str:
        if not self.finding:
            zero = ", which holds zero" if self.low <= 0.0 <= self.high else ""
            return f"{zero}; not a finding"
        if (self.low_selected, self.high_selected) == (self.low, self.high):
            return ""
        return f"; {self._change(self.low_selected, self.high_selected)} as {one_of(self.n_found)}"

    def _change(self, low: float, high: float) -> str:
        """An interval in the direction of the verb."""
        low, high = (low, high) if self.estimate >= 0 else (-high, -low)
        return f"{low:.3g} to {high:.3g}"


@dataclass(frozen=True, eq=False)
class Estimated:
    """What the stages download, fit, atlas and influence left; `place` is that of a target in the atlas."""

    config: Config
    data: Data
    fitted: Fitted
    atlas: Atlas
    result: Result
    found: Found

    @classmethod
    def of(cls, pipeline: Pipeline, command: str) -> Estimated:
        """What is in the store; `command` is what to run where it is not."""
        if not pipeline.config.atlas.wanted:
            raise BadInputError(NO_ATLAS)
        found = pipeline.finished(NEEDED, command)
        data, fitted = Data.of(found["download"], pipeline.config), Fitted.of(found["fit"])
        atlas = Atlas.of(found["atlas"])
        if not atlas.summary.targets:
            raise BadInputError(f"the atlas is empty: {STRATIFIED}.")
        return cls(pipeline.config, data, fitted, atlas, found["influence"], Found.read(found))

    @cached_property
    def summary(self) -> InfluenceSummary:
        """What the stage influence says of its result."""
        return read_summary(self.result, InfluenceSummary)

    @cached_property
    def counts(self) -> dict[str, Ints]:
        """Of each place n_found, n_nonzero, n_stand; of each image, how many targets it is found to raise and lower."""
        return read_counts(self.result)

    @property
    def outcome(self) -> str:
        """What the models' outcome is called."""
        return outcome_name(self.data.rows.outcome)

    @property
    def higher_is_better(self) -> bool:
        """Whether helpers raise the outcome."""
        return self.data.rows.higher_is_better

    @property
    def warning(self) -> str:
        """What spoils estimates that the user wanted all the same."""
        return spoiled_influences(self.config, self.atlas.summary.masks)

    def find_image(self, text: str) -> int:
        """The number of the training image that --image names."""
        return _find("--image", ImageFinder.of_train(self.data.n_train, self.data.labels, self.data.names), text)

    def find_place(self, text: str) -> int:
        """The place of the target that --target names."""
        target = _find("--target", ImageFinder.of_targets(self.data.n_targets, self.data.labels, self.data.names), text)
        if target not in self.atlas.summary.targets:
            raise BadInputError(
                f"--target {text} is not in the atlas, which has target {some_of(self.atlas.summary.targets)}; "
                "add it to atlas.targets."
            )
        return self.atlas.summary.targets.index(target)

    def strongest_images(self, place: int, top: int) -> tuple[Ints, Ints]:
        """The images that help a target most, and those that hurt it most, strongest first."""
        return self._helping_first(*_strongest(*self.atlas.of_target(place), top))

    def strongest_places(self, image: int, top: int) -> tuple[Ints, Ints]:
        """Of the targets that an image helps most, and hurts most, the places."""
        return self._helping_first(*_strongest(*self.atlas.of_image(image), top))

    def _helping_first(self, raising: Ints, lowering: Ints) -> tuple[Ints, Ints]:
        return (raising, lowering) if self.higher_is_better else (lowering, raising)

    def n_found(self, place: int) -> int:
        """Findings of the family that a target belongs to."""
        return self.summary.n_found if self.summary.family == "all" else int(self.counts["n_found"][place])

    def singles(self, place: int, images: Ints, rank_confidence: float = MARGINAL) -> Iterator[Single]:
        """The influences of `images` on one target. The intervals of their ranks hold together."""
        target = self.atlas.summary.targets[place]
        ranks = self._ranks(target, images, rank_confidence)
        columns = {
            **self._estimates(place, images),
            "theta": self.fitted.columns(np.array([target]))[images, 0],
            "rank": ranks.rank,
            "rank_low": ranks.low,
            "rank_high": ranks.high,
        }
        for k, image in enumerate(images.tolist()):
            numbers: dict[str, Any] = {name: values[k].item() for name, values in columns.items()}
            yield Single(
                image=image,
                target=target,
                class_image=self.class_of_image(image),
                class_target=self.class_of_target(target),
                n_found=self.n_found(place),
                rank_words=ranks.in_words(k),
                name_image=one_line(self.data.names.of("train", image)),
                name_target=one_line(self.data.names.of("target", target)),
                outcome=self.outcome,
                noun=self.data.noun,
                **numbers,
            )

    def _estimates(self, place: int, images: Ints) -> dict[str, NDArray[Any]]:
        """What the atlas and the stage influence say, by name, an entry for each image."""
        estimate, error = (values[images].astype(np.float64) for values in self.atlas.of_target(place))
        pvalue = self.atlas.pvalue(place, estimate, error)
        found = self.found.is_finding(place, images)
        freedom = np.full(1, self.atlas.summary.n_models - 1.0)
        level = self.found.levels(place, images) if found.any() else MARGINAL
        low, high = effect_interval(estimate, error, freedom, MARGINAL)
        longer = (np.where(found, end, np.nan) for end in effect_interval(estimate, error, freedom, level))
        values = (estimate, error, low, high, *longer, pvalue, found)
        names = ("estimate", "standard_error", "low", "high", "low_selected", "high_selected", "pvalue", "finding")
        return dict(zip(names, values, strict=True))

    def _ranks(self, target: int, images: Ints, confidence: float) -> RankIntervals:
        (blocks,) = tested_targets(self.data, self.fitted, np.array([target]), available_cores())
        margins, theta = pooled_target(self.data.held_out_masks, blocks)
        sign = 1.0 if self.higher_is_better else -1.0  # Rank 1 is that of the most helpful image.
        return rank_intervals(
            self.data.held_out_masks,
            sign * margins,
            theta=sign * theta,
            images=images,
            confidence=confidence,
            threads=available_cores(),
        )

    def class_of_image(self, image: int) -> str:
        """Its name; empty where it is not known."""
        labels = self.data.labels
        return "" if labels is None else labels.class_names[labels.train_labels[image]]

    def class_of_target(self, target: int) -> str:
        """Its name; empty where it is not known."""
        labels = self.data.labels
        return "" if labels is None else labels.class_names[labels.target_labels[target]]

    def named_image(self, image: int) -> str:
        """ "12 (dog)", or by its own name "12 (bmi)"."""
        return named(image, one_line(self.data.names.of("train", image)) or self.class_of_image(image))

    def named_target(self, target: int) -> str:
        """The same of a target."""
        return named(target, one_line(self.data.names.of("target", target)) or self.class_of_target(target))

    def weights_of_image(self, image: int) -> tuple[int, int]:
        """How many datamodels give it a weight other than 0, and in how many of these it is a finding of that sign."""
        theta = self.fitted.datamodel.weight[image, self.fitted.places(self.atlas.targets)]
        estimate, _ = self.atlas.of_image(image)
        found = self.found.of_image(image)
        return int(np.count_nonzero(theta)), int(np.count_nonzero(found & (theta * estimate > 0)))


def _find(option: str, finder: ImageFinder, text: str) -> int:
    try:
        return finder.find_one(text)
    except ValueError as error:
        raise BadInputError(f"{option} {text}: {error}.") from error


def _strongest(estimate: Singles, error: Singles, top: int) -> tuple[Ints, Ints]:
    """The places of the largest and of the smallest estimates, as far as they are above and below 0 and known."""
    order = np.argsort(-estimate, kind="stable")
    order = order[np.isfinite(error[order])]
    raising, lowering = order[estimate[order] > 0], order[estimate[order] < 0][::-1]
    return raising[:top], lowering[:top]
