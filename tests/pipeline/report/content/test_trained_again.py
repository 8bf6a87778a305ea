"""The two estimates of a row."""

from small_trained import make_verified

from pipeline.report.content.trained_again import Estimate


def test_the_claim_has_both_intervals_and_the_fresh_one_its_own():
    row = make_verified(0.5)
    claimed, fresh = Estimate.claimed(row), Estimate.fresh(row)
    assert (claimed.effect, claimed.effect_low, claimed.effect_high_selected) == (0.4, 0.2, 0.7)
    assert (fresh.effect, fresh.effect_low, fresh.effect_high) == (0.5, 0.3, 0.7)
    assert (claimed.is_longer, fresh.is_longer) == (True, False)
