"""Stage 2, fit: a LASSO datamodel for each target on the fit rows, or weights loaded from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from datamodels_inf.datamodel import Datamodel, detect_coding
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.files import identity, save_arrays
from pipeline.stages.context import Data, progress_bar, targets_of_class

VERSION = 1
CODING_ROWS = 10_000
CODING_TARGETS = 200


def settings(config: Config) -> dict[str, Any]:
    fit = config.fit
    chosen: dict[str, Any] = {"fit.mode": fit.mode, "fit.targets": fit.targets}
    if fit.targets == "needed":
        chosen["test.target_class"] = config.test.target_class
    if fit.mode == "lasso":
        names = ("n_lambdas", "lambda_ratio", "validation_rows")
        return {**chosen, **{f"fit.{name}": getattr(fit, name) for name in names}}
    if fit.file is None:
        return {**chosen, "content of fit.file": "of the source"}
    if not fit.file.is_file():
        raise BadInputError(f"fit.file {fit.file} does not exist; name a .pt or .npz file of weights.")
    return {**chosen, "content of fit.file": identity(fit.file)}


def run(config: Config, data: Data, out: Path, quiet: bool) -> dict[str, Any]:
    targets = _targets(config, data)
    datamodel, facts = (_lasso if config.fit.mode == "lasso" else _load)(config, data, targets, quiet)
    quality = datamodel.quality(data.held_out_masks, data.held_out_margins(targets))
    arrays = {"weight": datamodel.weight, "bias": datamodel.bias, "lam": datamodel.lam, "targets": targets}
    save_arrays(out / "datamodel.npz", arrays)
    save_arrays(out / "quality.npz", {"r2": quality.r2, "spearman": quality.spearman, "mse": quality.mse})
    return {
        **facts,
        "n_targets": len(targets),
        "r2_median": _median(quality.r2),
        "spearman_median": _median(quality.spearman),
        "n_nonzero_median": float(np.median(datamodel.n_nonzero)),
    }


def _median(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 6) if known.size else None


def _targets(config: Config, data: Data) -> NDArray[np.int64]:
    """The targets to fit: all, the given ones, or those of the class that the test draws from."""
    if config.fit.targets == "all":
        return np.arange(data.n_targets)
    if config.fit.targets == "needed":
        return targets_of_class(config, data)
    targets = np.array(config.fit.targets, np.int64)
    if targets.max() >= data.n_targets:
        raise BadInputError(f'fit.targets must be different numbers from 0 to {data.n_targets - 1}, or "all".')
    return targets


def _lasso(config: Config, data: Data, targets: NDArray[np.int64], quiet: bool) -> tuple[Datamodel, dict[str, Any]]:
    from datamodels_inf.lasso import fit_lasso

    fit = config.fit
    # One thread: the sums, and so the last bits of the weights, then do not depend on the number of cores.
    with progress_bar(len(targets), "target", "fit", quiet) as advance, threadpool_limits(1):
        try:
            datamodel = fit_lasso(
                data.fit_masks,
                data.fit_margins(targets),
                n_lambdas=fit.n_lambdas,
                lambda_ratio=fit.lambda_ratio,
                validation_rows=fit.validation_rows,
                progress=advance,
            )
        except ValueError as error:
            raise BadInputError(f"the fit cannot be made: {error}") from error
    return datamodel, {"coding": "mask"}


def _load(config: Config, data: Data, targets: NDArray[np.int64], quiet: bool) -> tuple[Datamodel, dict[str, Any]]:
    """Weights of a file. Their coding is detected on fit rows, which are not tested, or else on held-out rows."""
    path = config.fit.file or data.weights_file
    if path is None:
        raise BadInputError('fit.mode is "load" but the source has no weights; name a file in fit.file.')
    arrays = _read_weights(path)
    weight, bias = arrays["weight"], arrays["bias"]
    if weight.shape != (data.n_train, data.n_targets) or bias.shape != (data.n_targets,):
        raise BadInputError(
            f"fit.file {path} must hold weight of shape ({data.n_train}, {data.n_targets}) and bias of shape "
            f"({data.n_targets},), but they are {weight.shape} and {bias.shape}."
        )
    lam = arrays.get("lam", np.full(len(bias), np.nan))
    if lam.shape != bias.shape:
        raise BadInputError(f"fit.file {path} must hold lam of shape {bias.shape}, but it is {lam.shape}.")
    chosen = targets[:CODING_TARGETS]
    masks, margins = data.fit_masks, data.fit_margins(chosen)
    if masks.n_models < 2:
        masks, margins = data.held_out_masks, data.held_out_margins(chosen)
    try:
        report = detect_coding(weight[:, chosen], bias[chosen], masks[:CODING_ROWS], margins[:CODING_ROWS])
        datamodel = Datamodel(weight[:, targets], bias[targets], lam[targets], report.coding).in_mask_coding()
    except ValueError as error:
        raise BadInputError(f"fit.file {path} does not fit this data: {error}") from error
    facts = {"coding": report.coding, "mse_mask": report.mse_mask, "mse_signed": report.mse_signed}
    return datamodel, {**facts, "mse_constant": report.constant_mse}


def _read_weights(path: Path) -> dict[str, NDArray[Any]]:
    """weight, bias and, where there, lam; of a .pt file with tensors only, or of an .npz without pickles."""
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                found = {name: np.asarray(file[name]) for name in ("weight", "bias", "lam") if name in file}
        else:
            import torch

            content = torch.load(path, map_location="cpu", weights_only=True)
            names = [name for name in ("weight", "bias", "lam") if name in content]
            found = {name: content[name].detach().float().numpy() for name in names}
        if not {"weight", "bias"} <= found.keys():
            raise ValueError("it has no weight and bias")
        return {name: array.astype(np.float32 if name == "weight" else np.float64) for name, array in found.items()}
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInputError(f"fit.file {path} is not a file of weights ({type(error).__name__}: {reason}).") from error
