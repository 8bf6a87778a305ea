"""What the stages that look at one image at a time say of their results: evidence, prior, atlas and influence."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from datamodels_inf.exchangeability import ExchangeabilityReport
from pipeline.summaries.base import Summary
from pipeline.text.numbers import counted


def _square(n_train: int, targets: tuple[int, ...]) -> str:
    """ "400 images × 1 target"."""
    return f"{counted(n_train, 'image')} × {counted(len(targets), 'target')}"


class TiledSummary(Summary):
    """Of which targets, in their order in the tiles; tile_targets: how many a tile has. n_models: its rows."""

    targets: tuple[int, ...]
    n_train: int
    n_models: int
    tile_targets: int


class EvidenceSummary(TiledSummary):
    """Influences on the fit rows, n_models. reason: why it is of no target; empty where it is of some.

    r2_first, r2_attainable: R² on new rows, of the fit of these rows, and as expected of a fit of very many. n_to_come:
    all tested rows, counted as rows with residuals as large as those of the first fit.
    """

    reason: str = ""
    r2_first: float = 0.0
    r2_attainable: float = 0.0
    n_to_come: float = 0.0

    def describe(self) -> str:
        """How many rows, images and targets."""
        if self.reason:
            return f"none: {self.reason}"
        return f"{counted(self.n_models, 'fit row')} on {_square(self.n_train, self.targets)}"


class PredictionSummary(BaseModel):
    """`Prediction.figures` of a family of tests."""

    n_tests: int
    alpha: float
    reason: str
    expected: float | None = None
    interval: tuple[float, float] | None = None
    expected_by: float | None = None
    centre: int | None = None
    spread: float | None = None
    weight_range: tuple[float, float] | None = None
    effect_scale: tuple[float, ...] = ()
    effect_share: tuple[float, ...] = ()

    @property
    def words(self) -> str:
        """The expected number of findings."""
        return "no prediction" if self.expected is None else f"{self.expected:,.0f} expected"


class PriorSummary(Summary):
    """What the fit rows expect of the tests of each method."""

    methods: Mapping[str, PredictionSummary]

    def describe(self) -> str:
        """How many findings are expected of each method."""
        return ", ".join(f"{name} {prediction.words}" for name, prediction in self.methods.items())


class AtlasSummary(TiledSummary):
    """n_models: tested ones. masks: the check of the premise in full. tails: whether the tails of the targets' laws are
    kept.
    """

    masks: ExchangeabilityReport
    tails: bool = False

    def describe(self) -> str:
        """How many images and targets."""
        return _square(self.n_train, self.targets)


class InfluenceSummary(Summary):
    """n_nonzero: weights of the datamodels that are not 0; n_stand: those of them that are findings of their sign.

    With a prior: expected, expected_by: findings that the fit rows expect with it and with Benjamini–Yekutieli's
    correction, summed over the families that have a prediction; n_unpredicted: those that have none.
    """

    family: str
    alpha: float
    correction: str
    n_targets: int
    n_tests: int
    n_found: int
    n_nonzero: int
    n_stand: int
    expected: float | None = None
    expected_by: float | None = None
    n_unpredicted: int | None = None

    def describe(self) -> str:
        """How many influences were found among the tests, and how many weights are among them."""
        stand = f"{self.n_stand:,} of {counted(self.n_nonzero, 'weight')} stand"
        return f"{counted(self.n_found, 'influence')} of {self.n_tests:,}; {stand}"
