"""The weights and shapes of the prior stage on disk: one file a method, in the order of the design.

contrast.npz   weight: w of each test, 0 for those that are not made; m, support, mass, by_share: of `Shape`;
               u, expected: so many tests are expected to have p ≤ w·u; empty without a prediction
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prediction import Prediction
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.arrays import open_npz
from pipeline.config import Test
from pipeline.store.cache import Result
from pipeline.store.files import save_arrays


def write_prior(folder: Path, method: str, found: Prediction, cells: Ints, made: NDArray[np.bool_]) -> None:
    """What was predicted of one method. cells: of each test of the design, of which some are `made`."""
    weight = np.zeros(len(cells))
    weight[made] = found.weights(cells[made])
    shape, forecast = found.shape, found.forecast
    numbers = {"m": np.array([shape.m]), "by_share": np.array([shape.by_share])}
    curve = {"u": np.zeros(0), "expected": np.zeros(0)}
    if forecast is not None:
        curve = {"u": forecast.u, "expected": forecast.expected}
    save_arrays(
        folder / f"{method}.npz", {"weight": weight, "support": shape.support, "mass": shape.mass, **numbers, **curve}
    )


def read_prior(result: Result, method: str) -> Prior:
    """The weights and the shape of one method."""
    with open_npz(result.folder / f"{method}.npz") as file:
        shape = Shape(file["m"].item(), file["support"], file["mass"], file["by_share"].item())
        return Prior(file["weight"], shape)


def read_forecast(result: Result, method: str) -> tuple[Floats, Floats]:
    """(u, how many tests are expected to have p ≤ w·u); empty without a prediction."""
    with open_npz(result.folder / f"{method}.npz") as file:
        return file["u"], file["expected"]


def prior_in_use(test: Test, result: Result | None, method: str) -> Prior | None:
    """That of a method, where `test.correction` asks for one; None where it does not."""
    if not CORRECTIONS[test.correction].needs_prior:
        return None
    assert result is not None  # The stage is wanted then.
    return read_prior(result, method)
