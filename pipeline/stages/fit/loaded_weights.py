"""Datamodels from a file: released weights, or the scores of any attribution method, calibrated if that is wanted.

The test is valid for weights from anywhere but the held-out rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.calibration import Calibration, calibrate
from datamodels_inf.datamodel import Datamodel, detect_coding
from datamodels_inf.methods import METHODS
from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.score_files import read_scores
from pipeline.stages.base import Run
from pipeline.summaries import CalibrationSummary, FitOrigin

CODING_ROWS = 10_000
CODING_TARGETS = 200
IMAGES_AT_ONCE = 1024
"""Rows of a file of weights that are read between two steps of the bar."""
TARGETS_AT_ONCE = 128
"""Whose margins on the fit rows are in memory together."""


def load_datamodel(run: Run, targets: NDArray[np.int64]) -> tuple[Datamodel, FitOrigin]:
    """(the datamodel of `targets` in mask coding, where it comes from)."""
    config, data, say = run.config, run.data, run.say
    path = config.fit.file or data.weights_file
    if path is None:
        raise BadInputError('fit.mode is "load" but the source has no weights; name a file in fit.file.')
    scores = read_scores(path, data.n_train, data.n_targets)
    for note in scores.notes:
        say(note)
    bias = np.zeros(data.n_targets) if scores.bias is None else scores.bias
    lam = np.full(data.n_targets, np.nan) if scores.lam is None else scores.lam
    raw = _columns(scores.weight, targets, run.quiet), bias[targets], lam[targets]
    try:
        return (_calibrated if config.fit.calibrate else _decoded)(raw, run, targets)
    except ValueError as error:
        raise BadInputError(f"fit.file {path} does not fit this data: {error}") from error


def _columns(weight: NDArray[Any], targets: NDArray[np.int64], quiet: bool) -> NDArray[Any]:
    """weight[:, targets]; of a file that may be a memory map of gigabytes, in passes."""
    found = np.empty((len(weight), len(targets)), weight.dtype)
    with progress_bar(len(weight), "row", "fit: reading weights", quiet) as advance:
        for start in range(0, len(weight), IMAGES_AT_ONCE):
            found[start : start + IMAGES_AT_ONCE] = weight[start : start + IMAGES_AT_ONCE, targets]
            advance(min(IMAGES_AT_ONCE, len(weight) - start))
    return found


def _decoded(raw: tuple[NDArray[Any], ...], run: Run, targets: NDArray[np.int64]) -> tuple[Datamodel, FitOrigin]:
    """Weights that predict margins. Their coding is detected on rows that are not tested."""
    data, say = run.data, run.say
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


def _calibrated(raw: tuple[NDArray[Any], ...], run: Run, targets: NDArray[np.int64]) -> tuple[Datamodel, FitOrigin]:
    """Scale and bias of each target by least squares on the fit rows."""
    data, say = run.data, run.say
    weight, bias, lam = raw
    blocks = [slice(start, start + TARGETS_AT_ONCE) for start in range(0, len(targets), TARGETS_AT_ONCE)]
    with progress_bar(len(targets), "target", "fit: scale of scores", run.quiet) as advance:
        parts = [
            calibrate(
                weight[:, b], bias[b], data.fit_masks, data.fit_margins(targets[b]),
                threads=run.n_threads, progress=advance,
            )
            for b in blocks
        ]  # fmt: skip
    found = Calibration.joined(parts)
    n_constant = int(found.constant.sum())
    if n_constant:
        say(
            f"{n_constant:,} of {len(targets):,} columns of scores predict the same for every mask: their scale is 0, "
            f"and only {_seeing()} can see their pairs"
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


def _digits(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    """For JSON: 6 significant digits, None for what is not finite."""
    return tuple(float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist())
