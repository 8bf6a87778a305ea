"""Verify: findings, or a pair, held against fresh models trained with their two images forced in and out.

The models of the source say E[y | i in, j out] − E[y | i out, j in] by those of their masks that happen to tell i from
j; here couples of models are trained for it, with seeds that no other model has (`datamodels_inf.counterfactual`).
"""

from __future__ import annotations

from typing import Any

from pipeline.config import Config
from pipeline.errors import StoppedEarly
from pipeline.stages.base import PICTURES, Run, Stage
from pipeline.stages.verify.claims import claims_of, method_of
from pipeline.stages.verify.couples import Couples
from pipeline.summaries import VerifySummary
from pipeline.training.trained_set import TrainedSet
from pipeline.verified import Tally, write_verified

VERSION = 2
SETTINGS = ("top", "findings", "pair", "target", "method", "models", "seed")
"""What is read of `[verify]`."""


def left_out(config: Config) -> dict[str, str]:
    """Which tests are findings is decided here too, so the level and the correction enter."""
    return {
        "source": "the key of the download stage holds it, and what the models saw enters instead",
        "fit": "the key of the fit stage holds it",
        "test.file": "the key of the test stage holds its content",
        "test.chunk_pairs": "how many pairs are tested between two savings, each the same",
        "atlas": "is about single images",
        "robustness": "is about look-alikes",
        "report": "what is shown, not what is trained",
    }


def instead(config: Config) -> dict[str, Any]:
    """What is read of `[verify]`, and what the margins of fresh models depend on."""
    if not config.verify.wanted:
        return {}
    asked = config.verify.model_dump(mode="json")
    content = {"content of the trained set": TrainedSet.of(config, "verify").content}
    return {f"verify.{name}": asked[name] for name in SETTINGS} | content


def run(run: Run) -> VerifySummary:
    """Write verify.parquet, a row for each claim, in the order in which they are asked for."""
    verify = run.config.verify
    couples = Couples(
        TrainedSet.of(run.config, "verify"),
        claims_of(run),
        verify.models // 2,
        verify.seed,
        run.unfinished,
        run.training_place,
        run.quiet,
        run.say,
    )
    if run.dry_run and couples.n_models:
        raise StoppedEarly(f"dry run: {couples.n_models:,} fresh models were not trained.")
    rows = couples.verified()
    write_verified(run.out, rows)
    return VerifySummary(
        method=None if verify.pair else method_of(run),
        n_claims=len(rows),
        n_pairs=len(couples.targets),
        n_couples=couples.n_couples,
        n_models=couples.n_models,
        verdicts=Tally.of(rows).verdicts,
    )


def wanted(config: Config) -> bool:
    """Where `[verify]` names any finding or pair."""
    return config.verify.wanted


INPUTS = ("download", "fit", "test", "prior")
STAGE = Stage("verify", VERSION, INPUTS, VerifySummary, run, left_out, instead, wanted, unread=PICTURES)
