"""What a report shows, as plain data: tests, images, curves, the datamodels' quality, and where they come from.

No files here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.exchangeability import ExchangeabilityReport
from datamodels_inf.methods import CurveKind
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.report.rows import Key, Row

if TYPE_CHECKING:
    from pipeline.report.sections.reruns import Robustness


@dataclass(frozen=True)
class Images:
    """The pictures themselves, (n, H, W) grey or (n, H, W, 3) colour."""

    train: NDArray[np.uint8]
    targets: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for part in fields(self):
            images = getattr(self, part.name)
            if images.dtype != np.uint8 or not (images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)):
                raise ValueError(
                    f"`{part.name}` must be uint8 of shape (n, H, W) or (n, H, W, 3), "
                    f"but it is {images.dtype} of shape {images.shape}."
                )


@dataclass(frozen=True)
class Curve:
    """The ordinal dominance curve (PP plot) of the two samples that a test compares.

    kind: what the two samples are.
    x, y: shares of the first and of the second sample up to each of some thresholds, from 0 to 1.
    area: under the curve, P(first ≥ second) with ties counted half; ½ if both have the same law.
    """

    kind: CurveKind
    x: tuple[float, ...]
    y: tuple[float, ...]
    area: float


@dataclass(frozen=True)
class Weighted:
    """A training image and its weight in a datamodel."""

    index: int
    label: str
    theta: float


@dataclass(frozen=True)
class Gallery:
    """The training images with the largest positive and the largest negative weight for one target."""

    helpers: tuple[Weighted, ...]
    hurters: tuple[Weighted, ...]


@dataclass(frozen=True, eq=False)
class MaskCheck:
    """The check of exchangeability, how many of the held-out models saw each training image, and whether swap tests
    permute the rows."""

    report: ExchangeabilityReport
    column_sums: NDArray[np.int64]
    permuted: bool = True


@dataclass(frozen=True)
class Coding:
    """What the weights multiply: "mask" (0 or 1) or "signed" (±1), and the mean squared errors that decided it.

    The three errors are NaN where nothing had to be decided, because the weights were fitted here.
    """

    name: str
    mse_mask: float
    mse_signed: float
    mse_constant: float
    n_models: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class DatamodelQuality:
    """How well each of the K datamodels predicts held-out margins. Figures may be NaN where they are not defined.

    targets, classes: the numbers of the targets and the names of their classes (empty if not known).
    r2, spearman, mse, n_nonzero, lam, gap: one entry a target; gap is the relative duality gap of the fit.
    shown: positions among the K targets of the few that are drawn.
    shown_true, shown_predicted: (targets drawn, models), margins and predictions of some of the held-out models.
    loaded: the weights come from a file, so it is not known here which models they were fitted on.
    n_at_end: targets whose best λ is the smallest that was tried; None where nothing was fitted.
    """

    targets: NDArray[np.int64]
    classes: Sequence[str]
    r2: NDArray[np.float64]
    spearman: NDArray[np.float64]
    mse: NDArray[np.float64]
    n_nonzero: NDArray[np.int64]
    lam: NDArray[np.float64]
    gap: NDArray[np.float64]
    shown: NDArray[np.int64]
    shown_true: NDArray[np.float64]
    shown_predicted: NDArray[np.float64]
    loaded: bool = False
    n_at_end: int | None = None

    def __post_init__(self) -> None:
        count = len(self.targets)
        for name in ("classes", "r2", "spearman", "mse", "n_nonzero", "lam", "gap"):
            if len(getattr(self, name)) != count:
                raise ValueError(f"`{name}` must have one entry for each of the {count} targets.")
        shape = self.shown_true.shape
        if len(shape) != 2 or shape != self.shown_predicted.shape or shape[0] != len(self.shown):
            raise ValueError("`shown_true` and `shown_predicted` must have one row for each target in `shown`.")
        if not (np.isfinite(self.shown_true).all() and np.isfinite(self.shown_predicted).all()):
            raise ValueError("`shown_true` and `shown_predicted` must be finite.")
        if not all(0 <= position < count for position in self.shown.tolist()):
            raise ValueError(f"`shown` must hold positions among the {count} targets, from 0.")


@dataclass(frozen=True, kw_only=True)
class Content:
    """Everything on the page.

    rows: all tests, in any order; methods appear in the order in which they come here first.
    correction: one of CORRECTIONS, applied to the tests of each method at level `alpha`.
    r2_median, spearman_median: of the datamodels on held-out models, over the targets; NaN if not known.
    mask_law: "fixed-size", "bernoulli" or "stratified". masks: its check in full; None leaves it out.
    quality: the same for each target, with its table and drawings; None leaves them out.
    coding: what the weights multiply; None leaves it out.
    tau: how differently a pair may influence its target and not count; 0 asks for any difference at all.
    class_names: all classes in their order; those that only occur in `rows` come after them.
    curves: of the tests that get a panel, by `Row.key`. galleries: by target.
    robustness: re-runs with look-alikes; None leaves them out.
    max_panels: findings of each method that are drawn; all of them are in the tables.
    provenance: label → text, such as the keys of stages, versions, and the command that makes this page again.
        An entry "Warning" (such as masks that failed the check of exchangeability) also stands under the answer.
    """

    title: str
    rows: Sequence[Row]
    images: Images | None
    alpha: float
    correction: str
    n_models_fit: int
    n_models_test: int
    n_train: int
    r2_median: float
    spearman_median: float
    quality: DatamodelQuality | None = None
    mask_law: str
    masks: MaskCheck | None = None
    coding: Coding | None = None
    class_names: Sequence[str] = ()
    curves: Mapping[Key, Curve] = field(default_factory=dict)
    galleries: Mapping[int, Gallery] = field(default_factory=dict)
    robustness: Robustness | None = None
    max_panels: int
    unit: str = "margin"
    tau: float = 0.0
    provenance: Mapping[str, str]
    configuration: str

    @property
    def beyond(self) -> str:
        """ " by more than τ = 0.1", or nothing for τ = 0."""
        return f" by more than τ = {self.tau:g}" if self.tau > 0.0 else ""

    @property
    def equal(self) -> str:
        """What a false finding is."""
        return "whose influence differs by no more than τ" if self.tau > 0.0 else "with the same influence"

    def __post_init__(self) -> None:
        if self.correction not in CORRECTIONS:
            raise ValueError(f"`correction` must be one of {', '.join(CORRECTIONS)}, but it is {self.correction!r}.")
        if self.images is not None:
            _check_positions(self.rows, self.images)
            if self.quality is not None:
                _check_targets(self.quality, self.images)


def _check_positions(rows: Sequence[Row], images: Images) -> None:
    n_train, n_targets = len(images.train), len(images.targets)
    for row in rows:
        places = [("i", row.left, n_train), ("j", row.right, n_train), ("target", (row.target,), n_targets)]
        for name, indices, count in places:
            for index in indices:
                if not 0 <= index < count:
                    raise ValueError(f"`{name}` of a row is {index}, but there are {count} images (numbered from 0).")


def _check_targets(quality: DatamodelQuality, images: Images) -> None:
    for target in quality.targets[quality.shown].tolist():
        if not 0 <= target < len(images.targets):
            raise ValueError(f"`targets` holds {target}, but there are {len(images.targets)} images (numbered from 0).")
