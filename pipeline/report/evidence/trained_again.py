"""What the verify stage left, as the report shows it."""

from __future__ import annotations

from pipeline.report.content import TrainedAgain
from pipeline.store.cache import Result
from pipeline.summaries import VerifySummary, read_summary
from pipeline.verified import read_verified


def trained_again_of(result: Result | None) -> TrainedAgain | None:
    """Claims beside fresh models; None where none were asked for."""
    if result is None:
        return None
    summary, rows = read_summary(result, VerifySummary), read_verified(result.folder)
    return TrainedAgain(summary.method or "", summary.n_models, summary.n_couples, tuple(rows))
