"""What the verify stage left."""

from small_trained import make_verified

from pipeline.report.evidence.trained_again import trained_again_of
from pipeline.store.cache import Result
from pipeline.summaries import VerifySummary
from pipeline.verified import write_verified


def test_rows_and_counts_are_those_of_the_stage(tmp_path):
    assert trained_again_of(None) is None
    rows = [make_verified(0.5), make_verified(0.1)]
    write_verified(tmp_path, rows)
    summary = VerifySummary(n_claims=2, n_pairs=1, n_couples=50, n_models=100, verdicts={"confirmed": 1, "open": 1})
    again = trained_again_of(Result(tmp_path, {"summary": summary.as_json()}))
    assert again.rows == tuple(rows)
    assert (again.method, again.n_models, again.n_couples) == ("", 100, 50)
