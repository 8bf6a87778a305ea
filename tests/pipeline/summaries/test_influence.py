"""What the stages that look at one image at a time say; test_summaries.py reads each of them back from a manifest."""

import pytest

from pipeline.summaries import EvidenceSummary, InfluenceSummary, PredictionSummary, PriorSummary


def test_evidence_of_no_target_says_why():
    said = EvidenceSummary(targets=(), n_train=400, n_models=0, tile_targets=16, reason="weights were loaded")
    assert said.describe() == "none: weights were loaded"


@pytest.mark.parametrize(
    ("expected", "words"), ((None, "no prediction"), (0.4, "0 expected"), (12345.6, "12,346 expected"))
)
def test_a_prediction_is_in_words_or_there_is_none(expected, words):
    prediction = PredictionSummary(n_tests=10, alpha=0.2, reason="", expected=expected)
    assert prediction.words == words
    assert PriorSummary(methods={"paired": prediction}).describe() == f"paired {words}"


def test_one_influence_and_many_are_counted_in_words():
    said = {"family": "all", "alpha": 0.2, "correction": "by", "n_targets": 1, "n_tests": 10_000}
    assert InfluenceSummary(**said, n_found=1, n_nonzero=1, n_stand=1).describe() == (
        "1 influence of 10,000; 1 of 1 weight stand"
    )
