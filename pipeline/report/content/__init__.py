"""What a report shows, as plain data: tests, images, curves, the datamodels' quality, and where they come from.

No files here. `Content` is all of it; its parts are a module each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.shape import Shape
from pipeline.images.item_names import ItemNames
from pipeline.report.content.blocks import Blocks
from pipeline.report.content.curves import Curve
from pipeline.report.content.datamodels import Coding, DatamodelQuality
from pipeline.report.content.expectations import Expectation
from pipeline.report.content.fresh import FreshCheck
from pipeline.report.content.galleries import Gallery, Weighted
from pipeline.report.content.growth import Growth
from pipeline.report.content.images import Images
from pipeline.report.content.influences import Influences
from pipeline.report.content.masks import MaskCheck
from pipeline.report.content.reruns import Robustness
from pipeline.report.content.trained_again import TrainedAgain
from pipeline.report.groups import Group
from pipeline.report.rows import Key
from pipeline.text.nouns import noun_of

__all__ = [
    "Blocks",
    "Coding",
    "Content",
    "Curve",
    "DatamodelQuality",
    "Expectation",
    "FreshCheck",
    "Gallery",
    "Growth",
    "Images",
    "Influences",
    "MaskCheck",
    "Robustness",
    "TrainedAgain",
    "Weighted",
]


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything on the page.

    groups: the tests, by method.
    correction: one of CORRECTIONS, applied to the tests of each method at level `alpha`.
    n_models_fit, n_models_test: disjoint. blocks: where every model but the first tests, in which parts; None where all
        are tested with the same datamodels.
    counts: by method, the findings that each correction would have, None where it needs a prior that is not known.
    expectations: by method, the priors that are known; with a correction that needs one, of every method.
    growth: by method, findings against the number of models that tested; empty for one block.
    r2_median, spearman_median: of the datamodels on held-out models, over the targets; NaN if not known.
    mask_law: "fixed-size", "bernoulli" or "stratified". masks: its check in full; None leaves it out.
    quality: the same for each target, with its table and drawings; None leaves them out.
    coding: what the weights multiply; None leaves it out.
    tau: how differently a pair may influence its target and not count; 0 asks for any difference at all.
    class_names: all classes in their order; those that only occur in `rows` come after them. train_classes: that of
        each training image; empty where they are not known.
    awaits_images: it is images that were trained on, though they could not be had.
    curves: of the tests that get a panel, by `Row.key`. galleries: by target.
    influences: of single images, from the atlas; None leaves them out.
    robustness: re-runs with look-alikes; None leaves them out.
    trained_again: claims beside fresh models; None leaves them out.
    fresh: agreement with fresh models; None leaves it out.
    unit: what the models' outcome is called. higher_is_better: whether helpers raise it. names: of single images.
    max_panels: findings of each method that are drawn, as far as the page has room; all of them are in the tables.
    provenance: label → text, such as the keys of stages, versions, and the command that makes this page again.
        An entry "Warning" (such as masks that failed the check of exchangeability) also stands under the answer.
    in_memory: made by `analyse`, so that settings are called as its arguments are.
    """

    title: str
    groups: Sequence[Group]
    images: Images | None
    awaits_images: bool = False
    alpha: float
    correction: str
    n_models_fit: int
    n_models_test: int
    blocks: Blocks | None = None
    n_train: int
    r2_median: float
    spearman_median: float
    quality: DatamodelQuality | None = None
    mask_law: str
    masks: MaskCheck | None = None
    coding: Coding | None = None
    class_names: Sequence[str] = ()
    train_classes: Sequence[str] = ()
    counts: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    expectations: Mapping[str, Expectation] = field(default_factory=dict)
    growth: Mapping[str, Growth] = field(default_factory=dict)
    curves: Mapping[Key, Curve] = field(default_factory=dict)
    galleries: Mapping[int, Gallery] = field(default_factory=dict)
    influences: Influences | None = None
    robustness: Robustness | None = None
    trained_again: TrainedAgain | None = None
    fresh: FreshCheck | None = None
    max_panels: int
    unit: str = "margin"
    higher_is_better: bool = True
    names: ItemNames = field(default_factory=ItemNames)
    tau: float = 0.0
    provenance: Mapping[str, str]
    configuration: str
    in_memory: bool = False

    @property
    def beyond(self) -> str:
        """ " by more than τ = 0.1", or nothing for τ = 0."""
        return f" by more than τ = {self.tau:g}" if self.tau > 0.0 else ""

    @property
    def equal(self) -> str:
        """What a false finding is."""
        return "whose influence differs by no more than τ" if self.tau > 0.0 else "with the same influence"

    @property
    def noun(self) -> str:
        """What is trained on: "image" where it is known to be one, else "item", whether it has a class or not."""
        return noun_of(are_images=self.images is not None or self.awaits_images)

    @property
    def helps(self) -> str:
        """What a helper does to the outcome: "raises" it, or where less of it is better, "lowers" it."""
        return "raises" if self.higher_is_better else "lowers"

    @property
    def hurts(self) -> str:
        """What a hurter does to it."""
        return "lowers" if self.higher_is_better else "raises"

    @property
    def tested_model(self) -> str:
        """What a model is called that tests: in blocks, most of them have fitted the datamodels of later ones."""
        return "held-out model" if self.blocks is None else "tested model"

    @property
    def n_models_judged(self) -> int:
        """Models on which the figures of the datamodels were found: of several blocks, those of the last."""
        return self.n_models_test if self.blocks is None else self.blocks.sizes[-1]

    def n_models_of(self, method: str) -> int:
        """How many models tested each pair."""
        return self.n_models_test if self.blocks is None else self.blocks.of_method.get(method, self.n_models_test)

    def shape_of(self, method: str) -> Shape | None:
        """β of the correction in use; None for one that needs no prior."""
        known = self.expectations.get(method)
        return known.prior.shape if known is not None and CORRECTIONS[self.correction].needs_prior else None

    def __post_init__(self) -> None:
        if self.correction not in CORRECTIONS:
            raise ValueError(f"`correction` must be one of {', '.join(CORRECTIONS)}, but it is {self.correction!r}.")
        if (
            CORRECTIONS[self.correction].needs_prior
            and {group.method for group in self.groups} - self.expectations.keys()
        ):
            raise ValueError(f"`expectations` must hold every method for the correction {self.correction!r}.")
        if self.images is not None:
            for group in self.groups:
                _check_positions(group, self.images)
            if self.quality is not None:
                _check_targets(self.quality, self.images)


def _check_positions(group: Group, images: Images) -> None:
    """Every image of every test is there."""
    counts = {"members_i": len(images.train), "members_j": len(images.train), "target": len(images.targets)}
    for batch in group.columns.batches(list(counts)):
        for name, count in counts.items():
            indices = batch[name].combine_chunks()
            values = (indices if name == "target" else indices.flatten()).to_numpy(zero_copy_only=False)
            wrong = values[(values < 0) | (values >= count)]
            if wrong.size:
                what = name.removeprefix("members_")
                raise ValueError(f"`{what}` of a row is {wrong[0]}, but there are {count:,} images (numbered from 0).")


def _check_targets(quality: DatamodelQuality, images: Images) -> None:
    for target in quality.targets[quality.shown].tolist():
        if not 0 <= target < len(images.targets):
            raise ValueError(f"`targets` holds {target}, but there are {len(images.targets)} images (numbered from 0).")
