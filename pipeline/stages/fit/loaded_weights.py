"""Datamodels from a file: released weights, or the scores of any attribution method, calibrated if that is wanted.

The test is valid for weights from anywhere but the held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.calibration import Calibration, calibrate
from datamodels_inf.datamodel import Datamodel, detect_coding
from datamodels_inf.methods import METHODS
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Data
from pipeline.summaries import CalibrationSummary, FitOrigin

CODING_ROWS = 10_000
CODING_TARGETS = 200
TARGETS_AT_ONCE = 128
"""Whose margins on the fit rows are in memory together."""
NAMES = ("weight", "bias", "lam")


def load_datamodel(
    config: Config, data: Data, targets: NDArray[np.int64], say: Callable[[str], object]
) -> tuple[Datamodel, FitOrigin]:
    """(the datamodel of `targets` in mask coding, where it comes from)."""
    path = config.fit.file or data.weights_file
    if path is None:
        raise BadInputError('fit.mode is "load" but the source has no weights; name a file in fit.file.')
    arrays = read_weights(path)
    weight = arrays["weight"]
    bias = arrays.get("bias", np.zeros(data.n_targets))
    lam = arrays.get("lam", np.full(data.n_targets, np.nan))
    _check_shapes(path, data, weight, bias, lam)
    raw = np.asarray(weight[:, targets]), bias[targets], lam[targets]
    try:
        if config.fit.calibrate:
            return _calibrated(raw, data, targets, say)
        return _decoded(raw, data, targets, say)
    except ValueError as error:
        raise BadInputError(f"fit.file {path} does not fit this data: {error}") from error


def _decoded(
    raw: tuple[NDArray[Any], ...], data: Data, targets: NDArray[np.int64], say: Callable[[str], object]
) -> tuple[Datamodel, FitOrigin]:
    """Weights that predict margins. Their coding is detected on rows that are not tested."""
    with np.errstate(over="ignore"):  # Infinity is refused below.
        weight, bias, lam = raw[0].astype(np.float32), *raw[1:]
    some = slice(CODING_TARGETS)
    masks, margins = data.coding_rows(targets[some])
    masks, margins = masks[:CODING_ROWS], margins[:CODING_ROWS]
    datamodel = Datamodel(weight, bias, lam)
    try:
        report = detect_coding(weight[:, some], bias[some], masks, margins)
    except ValueError as error:
        hint = "if these are scores on a scale of their own, set fit.calibrate = true."
        raise ValueError(f"{str(error).rstrip('.')}; {hint}") from error
    datamodel = replace(datamodel, coding=report.coding).in_mask_coding()
    origin = FitOrigin(
        coding=report.coding,
        mse_mask=report.mse_mask,
        mse_signed=report.mse_signed,
        mse_constant=report.constant_mse,
        coding_rows=masks.n_models,
    )
    if not data.fit_masks.n_models:
        say(f"{masks.n_models:,} held-out models told what the weights multiply; they are not tested")
    return datamodel, origin


def _calibrated(
    raw: tuple[NDArray[Any], ...], data: Data, targets: NDArray[np.int64], say: Callable[[str], object]
) -> tuple[Datamodel, FitOrigin]:
    """Scale and bias of each target by least squares on the fit rows."""
    weight, bias, lam = raw
    blocks = [slice(start, start + TARGETS_AT_ONCE) for start in range(0, len(targets), TARGETS_AT_ONCE)]
    parts = [calibrate(weight[:, b], bias[b], data.fit_masks, data.fit_margins(targets[b])) for b in blocks]
    found = Calibration.joined(parts)
    n_constant = int(found.constant.sum())
    if n_constant:
        say(
            f"{n_constant} of {len(targets)} columns of scores predict the same for every mask: their scale is 0, and "
            f"only {_seeing()} can see their pairs"
        )
    datamodel = Datamodel((weight * found.scale).astype(np.float32), found.bias, lam)  # As small as a margin.
    calibration = CalibrationSummary(
        targets=tuple(targets.tolist()),
        scale=_digits(found.scale),
        bias=_digits(found.bias),
        r2_before=_digits(found.r2_before),
        r2_after=_digits(found.r2_after),
    )
    return datamodel, FitOrigin(coding="mask", calibration=calibration, n_constant_scores=n_constant)


def _seeing() -> str:
    """The methods that have power where two weights are equal."""
    return " and ".join(f"the {name}" for name, method in METHODS.items() if method.sees_equal_weights)


def read_weights(path: Path) -> Mapping[str, NDArray[Any]]:
    """weight and, where there, bias and lam. Nothing is unpickled.

    An .npy array; an .npz or .pt file with these names, or with one array alone, which is then the weight.
    """
    try:
        found = _arrays(path)
        if "weight" not in found:
            if len(found) != 1:
                raise ValueError("it has no array named weight, and not one array alone")
            found = {"weight": next(iter(found.values()))}
        for name, array in found.items():
            if array.dtype.kind not in "biuf":
                raise ValueError(f"{name} holds {array.dtype}, not numbers")
        return {name: array if name == "weight" else array.astype(np.float64) for name, array in found.items()}
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInputError(
            f"fit.file {path} is not a file of weights or scores ({type(error).__name__}: {reason})."
        ) from error


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    if path.suffix == ".npy":
        return {"weight": np.load(path, mmap_mode="r", allow_pickle=False)}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            names = [name for name in NAMES if name in file.files] if "weight" in file.files else file.files
            return {name: np.asarray(file[name]) for name in names}
    import torch

    content = torch.load(path, map_location="cpu", weights_only=True)
    tensors = {"weight": content} if isinstance(content, torch.Tensor) else dict(content)
    names = [name for name in NAMES if name in tensors] if "weight" in tensors else list(tensors)
    kinds = {name: torch.float64 if tensors[name].dtype == torch.float64 else torch.float32 for name in names}
    return {name: tensors[name].detach().to(kinds[name]).numpy() for name in names}


def _check_shapes(
    path: Path, data: Data, weight: NDArray[Any], bias: NDArray[np.float64], lam: NDArray[np.float64]
) -> None:
    wanted = data.n_train, data.n_targets
    if weight.shape == wanted[::-1] and weight.shape != wanted:
        raise BadInputError(
            f"fit.file {path} holds weight of shape {weight.shape}, one row a target; it must be {wanted}, one row a "
            "training image: save its transpose."
        )
    if weight.shape != wanted or bias.shape != wanted[1:]:
        raise BadInputError(
            f"fit.file {path} must hold weight of shape {wanted} and bias, if it has one, of shape {wanted[1:]}, but "
            f"they are {weight.shape} and {bias.shape}."
        )
    if lam.shape != wanted[1:]:
        raise BadInputError(f"fit.file {path} must hold lam of shape {wanted[1:]}, but it is {lam.shape}.")


def _digits(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    """For JSON: 6 significant digits, None for what is not finite."""
    return tuple(float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist())
