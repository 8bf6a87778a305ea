"""What the stages say is read back as it was written."""

from datamodels_inf.replication import Replication
from pipeline.store.cache import Result
from pipeline.summaries import FreshAgreementSummary, FreshSummary, HeldFamily, read_summary

FOUND = Replication(9, 8 / 9, 0.5, 1.0, 0.9, None, 7, 1, 1.0, 2 / 9, 0.7)


def test_they_are_read_back_as_they_were_written(tmp_path):
    one = HeldFamily(n_tests=80, n_found=9, findings=FOUND, others=None)
    said = FreshAgreementSummary(n_models=500, n_splits=20, methods={"paired": one}, atlas=one)
    assert read_summary(Result(tmp_path, {"summary": said.as_json()}), FreshAgreementSummary) == said
    assert said.describe() == "paired 88.9 % same sign, atlas 88.9 % same sign"
    nothing = HeldFamily(n_tests=80, n_found=0, findings=None, others=FOUND)
    alone = FreshAgreementSummary(n_models=500, n_splits=20, methods={"paired": nothing})
    assert alone.describe() == "paired no finding"
    assert list(alone.families) == ["paired"]
    fresh = FreshSummary(n_models=10_000, n_train=400, n_targets=120, seed=2**63)
    assert read_summary(Result(tmp_path, {"summary": fresh.as_json()}), FreshSummary) == fresh
    assert fresh.describe() == "10,000 fresh models, 120 targets"
