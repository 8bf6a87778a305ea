"""The influence of single training images, with error bars: on the targets shown, and over all targets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from datamodels_inf.multiplicity import CORRECTIONS, Correction
from pipeline.report.effects import Estimated


@dataclass(frozen=True)
class Rank:
    """Of an image among all images of a target, 1 the most helpful, with its interval, and both in words."""

    rank: int
    low: int
    high: int
    words: str


@dataclass(frozen=True)
class Single(Estimated):
    """What training on `image`, instead of an average other image, does to `target`.

    theta: its weight in the target's datamodel. effect, effect_se: the estimate on held-out models and its standard
    error, infinite where nothing is known; effect_low to effect_high is the 95 % interval, for an image named in
    advance. pvalue: asymptotic. finding: after correction. rank: None where it was not asked for.
    """

    target: int
    image: int
    class_target: str
    class_image: str
    theta: float
    effect: float
    effect_se: float
    effect_low: float
    effect_high: float
    pvalue: float
    finding: bool
    effect_low_selected: float = math.nan
    effect_high_selected: float = math.nan
    rank: Rank | None = None


@dataclass(frozen=True)
class TargetInfluences:
    """Of all images on one target.

    helpers, hurters: the largest and the smallest estimates, or where a lower outcome is better the reverse, outermost
    first. findings: all, by falling estimate.
    n_nonzero: weights of its datamodel that are not 0, of which n_stand are findings of the same sign. family_found,
    level: the R findings of its family, and the level of their longer intervals, NaN where there is none.
    """

    target: int
    class_target: str
    helpers: tuple[Single, ...]
    hurters: tuple[Single, ...]
    findings: tuple[Single, ...]
    n_nonzero: int
    n_stand: int
    family_found: int
    level: float

    @property
    def shown(self) -> tuple[Single, ...]:
        """From the most helpful to the most harmful."""
        return (*self.helpers, *reversed(self.hurters))

    @property
    def listed(self) -> tuple[Single, ...]:
        """The findings, and what is shown though it is none, by falling estimate."""
        known = {single.image: single for single in (*self.findings, *self.shown)}  # Those shown have their ranks.
        return tuple(sorted(known.values(), key=lambda single: (-single.effect, single.image)))


@dataclass(frozen=True)
class Influential:
    """A training image: on how many targets it is a finding that raises, and that lowers the outcome.

    own_raised, own_lowered: the same on targets of its own class; None where there is none, or classes are not known.
    strongest: where it is a finding, the targets that it moves most.
    """

    image: int
    class_image: str
    raised: int
    lowered: int
    own_raised: int | None
    own_lowered: int | None
    strongest: tuple[Single, ...]


@dataclass(frozen=True, kw_only=True)
class Influences:
    """The atlas, as far as the page shows it.

    family: "target" where the images of each target are a family of tests of their own, "all" for one of everything.
    correction: of these families; it may be another than that of the pairs.
    n_tests: influences estimated, of which n_found are findings. n_nonzero, n_stand: weights of the datamodels that
    are not 0, and how many of these are findings of the same sign.
    n_unknown: images that all tested models saw, or none.
    n_moving: images that are a finding on any target. share: of the images in a mask.
    targets: those shown. raising, lowering: the images that do so on most targets. doubtful: those that hurt most
    targets of their own class. warning: what spoils these p-values, empty for nothing. expectation: what a prior
    expected, in words; empty without one.
    """

    family: str
    correction: str
    n_models: int
    n_train: int
    n_targets: int
    n_tests: int
    n_found: int
    n_nonzero: int
    n_stand: int
    n_unknown: int
    n_moving: int
    share: float
    targets: tuple[TargetInfluences, ...]
    raising: tuple[Influential, ...] = ()
    lowering: tuple[Influential, ...] = ()
    doubtful: tuple[Influential, ...] = ()
    warning: str = ""
    expectation: str = ""

    @property
    def rule(self) -> Correction:
        """The entry of CORRECTIONS."""
        return CORRECTIONS[self.correction]

    @property
    def family_size(self) -> int:
        """The m tests that are corrected together."""
        return self.n_tests if self.family == "all" else self.n_train
