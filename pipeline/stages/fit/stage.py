"""Stage 2, fit: a LASSO datamodel for each target on the fit rows, or weights or scores loaded from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.datamodel import Datamodel
from datamodels_inf.kernels import ahead
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.progress import progress_bar
from pipeline.score_files import score_content
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.fit.loaded_weights import load_datamodel
from pipeline.stages.fit.quality import median_known, quality_arrays
from pipeline.stages.inputs import Described, chosen_targets, datamodel_files
from pipeline.stages.test import designs
from pipeline.stages.test.premise import check_premise
from pipeline.store.files import save_arrays
from pipeline.summaries import FitOrigin, FitSummary, TargetQuality

if TYPE_CHECKING:
    from pipeline.stages.fit.lasso_batches import LassoBatches

VERSION = 7
UNUSED_BY_LASSO = ("fit.calibrate",)
UNUSED_BY_LOAD = tuple(
    f"fit.{name}" for name in ("n_lambdas", "lambda_ratio", "validation_rows", "patience", "tolerance")
)


def left_out(config: Config) -> dict[str, str]:
    """What makes no difference to the datamodels, and what enters by another name."""
    lasso = config.fit.mode == "lasso"
    unused = UNUSED_BY_LASSO if lasso else UNUSED_BY_LOAD
    return {
        "source": "the key of the download stage holds it",
        "test": "only the blocks of rows and which targets the design can ask for, and these enter below; the rest may "
        "refuse, not change",
        "atlas": "only which targets it asks for beside the design, and that enters below",
        **dict.fromkeys(("robustness", "report"), "a fit does not depend on it"),
        "fit.memory_gb": "how many targets are fitted at once, each the same",
        "fit.file": "its content enters instead",
        **dict.fromkeys(unused, f"is not used by fit.mode = {config.fit.mode!r}"),
    }


def instead(config: Config) -> dict[str, Any]:
    """The targets that are needed, where these are fitted, the blocks of rows, and the content of a file of weights."""
    fit, test = config.fit, config.test
    chosen = designs.settings_of_targets(test) if fit.targets == "needed" else {}
    if test.progressive:
        chosen |= {"test.rows": test.rows, "test.blocks": test.blocks}
    if fit.targets == "needed" and config.atlas.targets not in (None, "needed"):
        chosen["atlas.targets"] = config.atlas.targets
    if fit.mode == "lasso":
        return chosen
    if fit.file is None:
        return {**chosen, "content of fit.file": "of the source"}
    return {**chosen, "content of fit.file": score_content(fit.file, "fit.file")}


def run(run: Run) -> FitSummary:
    """Write datamodel.npz, those of shorter prefixes of rows, and how well they predict margins of the rows to test."""
    config, data, out = run.config, run.data, run.out
    targets = targets_to_fit(config, data)
    if config.fit.mode == "lasso":
        check_premise(config, data)  # Before hours of work that nothing could be tested with.
        from pipeline.stages.fit.lasso_batches import LassoBatches  # Slow to import.

        batches = LassoBatches(config, data, targets, run.unfinished, run.place, run.quiet, run.say)
        prefixes = _lasso(batches)
    else:
        datamodel, origin = load_datamodel(run, targets)
        prefixes = iter([_Prefix(datamodel, np.full(len(targets), np.nan), origin)])
    files, gaps, origins, r2_of_prefixes = datamodel_files(out, len(data.blocks)), [], [], []
    for file, block, fitted in zip(files, data.blocks, prefixes, strict=True):
        datamodel, masks, margins = fitted.datamodel, data.block_masks(block), data.block_margins(block, targets)
        arrays = {"weight": datamodel.weight, "bias": datamodel.bias, "lam": datamodel.lam, "targets": targets}
        save_arrays(file, arrays)
        with progress_bar(len(targets), "target", "fit: quality", run.quiet) as advance:
            quality = datamodel.quality(masks, margins, threads=run.n_threads, progress=advance)
        gaps.append(fitted.gap)
        origins.append(fitted.origin)
        r2_of_prefixes.append(median_known(quality.r2))
    _say_gaps(run, np.concatenate(gaps))
    save_arrays(out / "quality.npz", quality_arrays(datamodel, quality, targets, gaps[-1], masks, margins))
    return FitSummary(
        **_worst(origins).as_json(),
        n_targets=len(targets),
        n_prefixes=len(files),
        r2_of_prefixes=tuple(r2_of_prefixes) if config.test.progressive else (),
        r2_median=r2_of_prefixes[-1],
        spearman_median=median_known(quality.spearman),
        n_nonzero_median=float(np.median(datamodel.n_nonzero)),
        quality=TargetQuality(
            targets=tuple(targets.tolist()), r2=_listed(quality.r2), spearman=_listed(quality.spearman)
        ),
    )


def _listed(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    """For JSON: 6 digits, None for NaN."""
    return tuple(None if v != v else round(v, 6) for v in values.tolist())


def targets_to_fit(config: Config, data: Described) -> NDArray[np.int64]:
    """The targets to fit: those that the design or the atlas can ask for, all, those of a class, or the given ones."""
    if config.fit.targets == "needed":
        needed = designs.needed_targets(config, data)
        more = np.setdiff1d(designs.atlas_targets(config, data), needed)
        return np.concatenate([needed, more])
    return chosen_targets(data, config.fit.targets, "fit.targets")


@dataclass(frozen=True, eq=False)
class _Prefix:
    """The datamodels of the rows before a block, their duality gaps (NaN if they were loaded), where they come from."""

    datamodel: Datamodel
    gap: NDArray[np.float64]
    origin: FitOrigin


def _lasso(batches: LassoBatches) -> Iterator[_Prefix]:
    from datamodels_inf.lasso.solver import as_datamodel

    try:
        for fits, choices in batches.run():
            gap = np.array([fit.gap for fit in fits])
            origin = FitOrigin(
                coding="mask",
                gap_tolerance=batches.config.fit.tolerance,
                gap_max=float(gap.max()),
                gap_max_on_paths=max(choice.worst_gap for choice in choices),
                n_lambda_at_end=sum(choice.at_end for choice in choices),
            )
            yield _Prefix(as_datamodel(fits, batches.data.n_train), gap, origin)
    except ValueError as error:
        raise BadInputError(f"the fit cannot be made: {error}") from error


def _say_gaps(run: Run, gap: NDArray[np.float64]) -> None:
    above = gap[gap > run.config.fit.tolerance]
    if above.size:
        run.say(
            f"{above.size:,} of {len(gap):,} fits ended with a duality gap above fit.tolerance, "
            f"up to {above.max():.2g}: p-values stay valid, but a better fit may have more power"
        )


def _worst(origins: Sequence[FitOrigin]) -> FitOrigin:
    """The last, with the largest gaps of all."""
    gaps = {
        name: max(getattr(origin, name) for origin in origins)
        for name in ("gap_max", "gap_max_on_paths")
        if getattr(origins[-1], name) is not None
    }
    return origins[-1].model_copy(update=gaps)


def kernels(config: Config) -> Sequence[str]:
    """Of loaded weights only what they predict."""
    return ahead.LASSO if config.fit.mode == "lasso" else ahead.PREDICTIONS


STAGE = Stage("fit", VERSION, ("download",), FitSummary, run, left_out, instead, unread=PICTURES, kernels=kernels)
