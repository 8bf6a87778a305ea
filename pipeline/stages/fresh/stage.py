"""Fresh: models like those of the set, trained on new masks of the same law; no fit or test has seen them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.masks import pack_rows
from pipeline.config import Config
from pipeline.errors import BadInputError, StoppedEarly
from pipeline.progress import progress_bar
from pipeline.stages.base import Run, Stage
from pipeline.store.files import save_array
from pipeline.store.unfinished_steps import read_again, read_step, save_step
from pipeline.summaries import FreshSummary
from pipeline.training.trained_set import TrainedSet
from pipeline.training.work import Models

VERSION = 2
BATCH = 512
FEWEST = 16
"""Fresh models: halves of fewer tell nothing."""
WHO = "verify --fresh"
PURPOSE = "fresh"


def left_out(config: Config) -> dict[str, str]:
    """All of it: models know their set and their seed."""
    return {
        "source": "how the set was made and what its models see enters instead",
        **dict.fromkeys(("fit", "test", "atlas", "robustness", "report"), "models are trained without it"),
    }


def instead(config: Config) -> dict[str, object]:
    """What the margins of the models depend on."""
    verify = config.verify
    if not wanted(config):
        return {}
    if verify.fresh < FEWEST:
        raise BadInputError(f"verify.fresh = {verify.fresh} is too few models to agree or not; give {FEWEST} or more.")
    return {**TrainedSet.of(config, WHO).content, "verify.fresh": verify.fresh, "verify.seed": verify.seed}


def run(run: Run) -> FreshSummary:
    """Write masks.npy (bits) and margins.npy (float32), a row for each model."""
    made, verify = TrainedSet.of(run.config, WHO), run.config.verify
    seed = made.fresh_seed(PURPOSE, verify.seed)
    starts = range(0, verify.fresh, made.job.batch(verify.fresh, BATCH))
    _train_missing(run, made, seed, starts)
    bits = np.concatenate([pack_rows(_models(run, seed, start, starts.step).masks(made.job)) for start in starts])
    save_array(run.out / "masks.npy", bits)
    margins = np.concatenate([_margins(run, start) for start in starts])
    save_array(run.out / "margins.npy", margins)
    return FreshSummary(n_models=len(margins), n_train=made.job.n_train, n_targets=margins.shape[1], seed=seed)


def _train_missing(run: Run, made: TrainedSet, seed: int, starts: range) -> None:
    """Every batch that is not among the finished steps."""
    n_models = run.config.verify.fresh

    def complain(damage: str) -> None:
        run.say(f"{damage}; its models are trained again")

    missing = [start for start in starts if read_step(_step(run, start), complain) is None]
    if len(missing) < len(starts):
        run.say(f"going on with a training that was stopped: {len(starts) - len(missing):,} of {len(starts):,} batches")
    if run.dry_run and missing:
        raise StoppedEarly(f"dry run: {n_models:,} fresh models were not trained.")
    units = [_models(run, seed, start, starts.step) for start in missing]
    with progress_bar(n_models, "model", "train fresh", run.quiet) as advance:
        advance(n_models - sum(unit.stop - unit.first for unit in units))
        place = run.training_place
        for unit, trained in place.done(made.training(place, run.unfinished), units, advance):
            save_step(_step(run, unit.first), {"margins": made.job.kept(trained["margins"])})


def _models(run: Run, seed: int, start: int, size: int) -> Models:
    return Models(seed, start, min(start + size, run.config.verify.fresh))


def _step(run: Run, start: int) -> Path:
    return run.unfinished / f"models-{start:09d}.npz"


def _margins(run: Run, start: int) -> NDArray[np.float32]:
    return np.asarray(read_again(_step(run, start))["margins"], np.float32)


def wanted(config: Config) -> bool:
    """Where `[verify]` asks for fresh models."""
    return config.verify.fresh > 0


STAGE = Stage("fresh", VERSION, (), FreshSummary, run, left_out, instead, wanted)
