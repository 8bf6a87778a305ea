"""How well datamodels predict, as arrays: of each target, and true against predicted outcomes of a few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel, Quality
from datamodels_inf.masks import FloatArray, PackedMasks

SCATTER_ROWS = 400
"""Models of a drawing."""


def quality_arrays(
    datamodel: Datamodel,
    quality: Quality,
    targets: NDArray[np.int64],
    gap: NDArray[np.float64],
    masks: PackedMasks,
    margins: FloatArray,
) -> dict[str, NDArray[Any]]:
    """The arrays of `DatamodelQuality`: what was judged on `masks` and `margins` of models that test."""
    return {
        "targets": targets,
        "r2": quality.r2,
        "spearman": quality.spearman,
        "mse": quality.mse,
        "n_nonzero": datamodel.n_nonzero,
        "lam": np.asarray(datamodel.lam, np.float64),
        "gap": gap,
        **_scatter(datamodel, quality.r2, masks, margins),
    }


def median_known(values: NDArray[np.float64]) -> float | None:
    """The median of those that are no NaN, to six digits; None where there is none."""
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 6) if known.size else None


def _scatter(
    datamodel: Datamodel, r2: NDArray[np.float64], masks: PackedMasks, margins: FloatArray
) -> dict[str, NDArray[Any]]:
    """True and predicted margins of some held-out models, for the targets of the least, median and best R²."""
    known = np.argsort(r2, kind="stable")[: np.count_nonzero(~np.isnan(r2))]
    shown = np.unique(known[[0, len(known) // 2, -1]]) if known.size else known
    shown = shown[np.argsort(r2[shown], kind="stable")]
    rows = np.unique(np.linspace(0, len(margins) - 1, SCATTER_ROWS).astype(np.int64))
    some = PackedMasks(np.ascontiguousarray(masks.bits[rows]), masks.n_train)
    predicted = datamodel.subset(shown).predict(some).T if shown.size else np.zeros((0, len(rows)))
    return {
        "shown": shown.astype(np.int64),
        "shown_true": margins[rows][:, shown].T.astype(np.float64),
        "shown_predicted": predicted,
    }
