"""What the referee found, as its stage keeps it: figures in the manifest, pairs and contradictions as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.refereeing.verdicts import CONFIRMED, REVERSED
from pipeline.summaries import Summary

PAIRS = "pairs.parquet"
CONTRADICTIONS = "contradictions.parquet"
LEAK = (
    "The referee cannot see how scores were made. If models that are tested here were used to make them, as the "
    "checkpoints of TRAK or of an ensemble often are, p-values are not valid, and the claims of these scores look "
    "better than they are."
)
REMEDY = (
    "Make the scores from models that are not tested (source.held_out_rows says how many of the last rows are), and say"
    " so with --unseen."
)
ONE_OF_100 = 2.326
"""The quantile of the normal law."""
OWN = "the datamodel of this configuration"
APART = "The datamodel of this configuration was fitted on models that are not tested."
UNSEEN = "The user says that no tested model was used to make the scores; the referee cannot check it."


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
        """Of its claims."""
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
        """Of all methods."""
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
        """The same."""
        return self.headline


def headline(summary: RefereeSummary, count: Callable[[int], str] = "{:,}".format) -> str:
    """The whole in a sentence or two; `count` writes numbers."""
    best = max(summary.methods, key=lambda one: one.share(CONFIRMED))
    worst = max(summary.methods, key=lambda one: one.share(REVERSED))

    def counted(one: MethodFigures, verdict: str) -> str:
        return f"{count(one.verdicts[verdict])} of {count(one.n_claims)} claims ({100 * one.share(verdict):.3g} %)"

    if not summary.n_claims:
        return "No method claims anything, so there is nothing to decide."
    if len(summary.methods) == 1:
        both = f"{counted(best, CONFIRMED)} are confirmed and {count(best.verdicts[REVERSED])} reversed"
        return f"Of {best.name}, {both}."
    most = f"Confirmed most: {best.name}, {counted(best, CONFIRMED)}."
    if not worst.verdicts[REVERSED]:
        return f"{most} No claim of any method is reversed."
    return f"{most} Reversed most: {worst.name}, {counted(worst, REVERSED)}."


def leak_words(summary: RefereeSummary, unseen: bool) -> str:
    """What is to be said about tested models that the scores may have seen; of a datamodel made here, that is known."""
    if all(method.source == OWN for method in summary.methods):
        return APART
    return UNSEEN if unseen else f"{LEAK} {REMEDY}"


def direction(summary: RefereeSummary) -> str:
    """What help means here: a claim of a method stands or falls with it."""
    change = "raises" if summary.higher_is_better else "lowers"
    return f"An image helps a target where training on it {change} the {summary.outcome}."


def promise(summary: RefereeSummary) -> str:
    """What the correction controls, in a sentence."""
    rule = CORRECTIONS[summary.correction]
    share = f"{100 * summary.alpha:.4g} %"
    if rule.controls == "FWER":
        text = f"the chance that any is wrong is at most {share}"
    else:
        text = f"at most {share} are expected to be wrong"
    return f"Of what is confirmed or reversed, {text}, for each method ({rule.title}, {rule.dependence})."


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """A table of one-dimensional columns."""
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(dict(columns)), path)


def read_columns(path: Path) -> dict[str, NDArray[Any]]:
    """What `write_columns` wrote."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: np.asarray(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names}
