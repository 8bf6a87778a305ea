"""What a report shows, as plain data: the tests, the images, the datamodels' quality, and where they come from.

No files here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

COLUMNS = (
    "method",
    "i",
    "j",
    "target",
    "class_i",
    "class_j",
    "class_target",
    "statistic",
    "pvalue",
    "pvalue_adjusted",
    "finding",
    "theta_i",
    "theta_j",
    "effect",
    "effect_low",
    "effect_high",
    "note",
)
CORRECTIONS = ("by", "bh", "holm", "bonferroni")
MISSES = 5


@dataclass(frozen=True)
class Row:
    """One test: do training images `i` and `j` influence `target` differently? One field per column of the CSV files.

    The three numbers are 0-based positions in `Images.train` and `Images.targets`. `theta_*`, `effect` and the ends
    of its interval may be NaN or infinite; `note` may be empty.
    """

    method: str
    i: int
    j: int
    target: int
    class_i: str
    class_j: str
    class_target: str
    statistic: float
    pvalue: float
    pvalue_adjusted: float
    finding: bool
    theta_i: float
    theta_j: float
    effect: float
    effect_low: float
    effect_high: float
    note: str


@dataclass(frozen=True)
class Images:
    """The pictures themselves, (n, H, W) grey or (n, H, W, 3) colour."""

    train: NDArray[np.uint8]
    targets: NDArray[np.uint8]

    def __post_init__(self) -> None:
        for field in fields(self):
            images = getattr(self, field.name)
            if images.dtype != np.uint8 or not (images.ndim == 3 or (images.ndim == 4 and images.shape[3] == 3)):
                raise ValueError(
                    f"`{field.name}` must be uint8 of shape (n, H, W) or (n, H, W, 3), "
                    f"but it is {images.dtype} of shape {images.shape}."
                )


@dataclass(frozen=True, kw_only=True, eq=False)
class DatamodelQuality:
    """How well each of the K datamodels predicts held-out margins. Figures may be NaN where they are not defined.

    targets, classes: the numbers of the targets and the names of their classes (empty if not known).
    r2, spearman, mse, n_nonzero, lam, gap: one entry a target; gap is the relative duality gap of the fit.
    shown: positions among the K targets of the few that are drawn.
    shown_true, shown_predicted: (targets drawn, models), margins and predictions of some of the held-out models.
    loaded: the weights come from a file, so it is not known here which models they were fitted on.
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
    correction: "by", "bh", "holm" or "bonferroni", applied to the tests of each method at level `alpha`.
    r2_median, spearman_median: of the datamodels on held-out models, over the targets; NaN if not known.
    mask_law: "fixed-size" or "bernoulli".
    quality: the same for each target, with its table and drawings; None leaves them out.
    tau: how differently a pair may influence its target and not count; 0 asks for any difference at all.
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


@dataclass(frozen=True)
class Numbered:
    """A finding and its number: its line in findings.csv and on the page, from 1."""

    number: int
    row: Row


@dataclass(frozen=True)
class Group:
    """The tests of one method: how many, the findings in page order, and, if there is none, the closest misses."""

    method: str
    n_tests: int
    findings: tuple[Numbered, ...]
    misses: tuple[Numbered, ...]


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """The tests by method. Findings are numbered through, from the first method to the last."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    groups: list[Group] = []
    before = 0
    for method, tests in by_method.items():
        tests.sort(key=_rank)
        found = tuple(Numbered(before + k, row) for k, row in enumerate((r for r in tests if r.finding), start=1))
        misses = () if found else tuple(Numbered(k, row) for k, row in enumerate(tests[:MISSES], start=1))
        groups.append(Group(method, len(tests), found, misses))
        before += len(found)
    return groups


def _rank(row: Row) -> tuple[float, float, int, int, int]:
    """By p-value, then the larger effect first, then by position; what is not known comes last."""
    pvalue = math.inf if math.isnan(row.pvalue) else row.pvalue
    effect = 1.0 if math.isnan(row.effect) else -abs(row.effect)
    return pvalue, effect, row.target, row.i, row.j


def _check_positions(rows: Sequence[Row], images: Images) -> None:
    for row in rows:
        for name, index, count in (
            ("i", row.i, len(images.train)),
            ("j", row.j, len(images.train)),
            ("target", row.target, len(images.targets)),
        ):
            if not 0 <= index < count:
                raise ValueError(f"`{name}` of a row is {index}, but there are {count} images (numbered from 0).")


def _check_targets(quality: DatamodelQuality, images: Images) -> None:
    for target in quality.targets[quality.shown].tolist():
        if not 0 <= target < len(images.targets):
            raise ValueError(f"`targets` holds {target}, but there are {len(images.targets)} images (numbered from 0).")
