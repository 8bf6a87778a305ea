"""What the stages referee and referee-page say of their results."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import BaseModel

from datamodels_inf.refereeing.verdicts import CONFIRMED, REVERSED
from pipeline.summaries.base import Summary

ONE_OF_100 = 2.326
"""A standard normal number lies below −2.326 in one of 100 cases."""


class Figure(BaseModel):
    """An estimate and its 95 % interval; None where it is not known."""

    value: float | None
    low: float | None
    high: float | None

    def text(self) -> str:
        """ "0.412 (0.398 to 0.425)"."""
        if self.value is None or self.low is None or self.high is None:
            return "–"
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})".replace("-", "−")


class MethodFigures(BaseModel):
    """One method: where its scores come from, its claims by verdict, and by kind; n_silent: claims that its scores do
    not make. fit_correlation: of its predictions and outcomes on rows that are not tested, mean over targets.
    """

    name: str
    source: str
    negated: bool = False
    notes: tuple[str, ...] = ()
    n_claims: int
    n_silent: int
    verdicts: Mapping[str, int]
    kinds: Mapping[str, Mapping[str, int]]
    lds: Figure
    r2: Figure
    fit_correlation: float | None
    n_constant: int = 0

    def share(self, verdict: str) -> float:
        """The share of its claims that have this verdict."""
        return self.verdicts[verdict] / self.n_claims if self.n_claims else 0.0

    def warning(self, chance: float) -> str:
        """A word about its sign; empty if there is none to say. chance: see `RefereeSummary.chance_correlation`."""
        if self.fit_correlation is None or self.fit_correlation >= -chance:
            return ""
        return (
            f"{self.name}: its sign may be turned: on models that are not tested, its predictions and the outcomes "
            f"correlate with {self.fit_correlation:.2f}; if its positive scores mean harm, --negate "
            f"{self.name}".replace("with -", "with −")
        )


class Decided(BaseModel):
    """Claims on which two methods disagree and that the models decide: how often which is right."""

    first: str
    second: str
    first_right: int
    second_right: int

    @property
    def n(self) -> int:
        """How many are decided."""
        return self.first_right + self.second_right


class RefereeSummary(Summary):
    """methods: in the order in which they were named. n_predicted: targets that LDS and R² are of. spoiled: what the
    masks break of the premise, where the user answered for it.
    """

    methods: tuple[MethodFigures, ...]
    decided: tuple[Decided, ...]
    n_contradictions: int
    n_models: int
    n_fit: int
    n_train: int
    n_targets: int
    n_predicted: int
    n_blocks: int
    k: int
    alpha: float
    correction: str
    seed: int
    resamples: int
    outcome: str
    higher_is_better: bool
    spoiled: str = ""

    @property
    def n_claims(self) -> int:
        """Claims of all methods together."""
        return sum(method.n_claims for method in self.methods)

    @property
    def chance_correlation(self) -> float:
        """How far below 0 the correlation of predictions and outcomes falls in 1 of 100 methods that know nothing.

        If scores are dealt out to the d training images at random, that correlation has mean 0 and, on n models that
        are not tested, a variance of at most 1/(n − 1) + 1/(d − 1): the noise of the models, and scores that resemble
        the influences by chance (the variance of a correlation under permutation is 1/(d − 1), whatever the values).
        A mean over targets varies no more than that, however the targets depend on each other.
        """
        return ONE_OF_100 * math.sqrt(1.0 / max(self.n_fit - 1, 1) + 1.0 / max(self.n_train - 1, 1))

    @property
    def warnings(self) -> list[str]:
        """About signs and masks; that about leaks is said beside them."""
        own = list(filter(None, (method.warning(self.chance_correlation) for method in self.methods)))
        return [*own, f"the masks do not keep the premise of the tests: {self.spoiled}"] if self.spoiled else own

    def describe(self) -> str:
        """How many claims of each method are confirmed and reversed."""
        parts = (
            f"{one.name} {one.verdicts[CONFIRMED]:,} confirmed and {one.verdicts[REVERSED]:,} reversed of "
            f"{one.n_claims:,}"
            for one in self.methods
        )
        return "; ".join(parts)


class RefereePageSummary(Summary):
    """What the page says first."""

    headline: str

    def describe(self) -> str:
        """The headline of the page."""
        return self.headline
