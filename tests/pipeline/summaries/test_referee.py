"""What the referee's figures say of themselves."""

import numpy as np
from referee_summaries import method, summary

from pipeline.summaries import Figure


def test_a_clearly_negative_correlation_is_a_warning_that_says_what_to_do():
    turned = method("a", 1, 1, 1, correlation=-0.75)
    whole = summary(turned, method("b", 1, 1, 1), method("c", 1, 1, 1, correlation=None), spoiled="pairs drift")
    sign, masks = whole.warnings
    assert "its sign may be turned" in sign and "correlate with −0.75" in sign and sign.endswith("--negate a")
    assert masks == "the masks do not keep the premise of the tests: pairs drift"


def test_no_sign_is_doubted_for_a_correlation_that_chance_would_give():
    assert summary(method("noise", 1, 1, 1, correlation=-0.03)).warnings == []
    many = {"n_fit": 10_001, "n_train": 10_001}  # 2.326·√(2/10,000) is 0.033.
    assert not summary(method("noise", 1, 1, 1, correlation=-0.03), **many).warnings
    assert summary(method("turned", 1, 1, 1, correlation=-0.04), **many).warnings


def test_scores_dealt_out_at_random_are_warned_of_in_one_of_a_hundred_cases():
    """On one target, or on many that are all the same."""
    rng, n, d = np.random.default_rng(0), 60, 25
    bound = summary(method("a", 1, 1, 1), n_fit=n, n_train=d).chance_correlation
    below, repeats = 0, 4000
    for _ in range(repeats):
        masks = rng.random((n, d)) < 0.5
        outcomes = masks @ rng.standard_cauchy(d).clip(-30, 30)  # A few strong images, and no noise.
        below += np.corrcoef(masks @ rng.standard_normal(d), outcomes)[0, 1] < -bound
    assert below / repeats < 0.015


def test_figures_as_text():
    assert Figure(value=-0.25, low=-0.5, high=0.125).text() == "−0.250 (−0.500 to 0.125)"
    assert Figure(value=None, low=None, high=None).text() == "–"


def test_a_few_words_for_the_run():
    assert summary(method("a", 1500, 0, 2)).describe() == "a 1,500 confirmed and 2 reversed of 1,502"
