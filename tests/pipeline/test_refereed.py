"""What the referee's figures say in words."""

import numpy as np
import pytest

from pipeline.refereed import (
    OWN,
    Decided,
    Figure,
    MethodFigures,
    RefereeSummary,
    headline,
    leak_words,
    promise,
    read_columns,
    write_columns,
)


def method(name, confirmed, unproven, wrong, correlation=0.5):
    verdicts = {"confirmed": confirmed, "unproven": unproven, "reversed": wrong, "untested": 0}
    figure = Figure(value=-0.25, low=-0.5, high=0.125)
    return MethodFigures(
        name=name, source=f"{name}.npy", n_claims=confirmed + unproven + wrong, n_silent=2, verdicts=verdicts,
        kinds={}, lds=figure, r2=figure, fit_correlation=correlation,
    )  # fmt: skip


def summary(*methods, **more):
    given = {
        "methods": methods, "decided": (Decided(first="a", second="b", first_right=1, second_right=0),),
        "n_contradictions": 1, "n_models": 100, "n_fit": 50, "n_train": 20, "n_targets": 4, "n_predicted": 4,
        "n_blocks": 1, "k": 5, "alpha": 0.1, "correction": "by", "seed": 0, "resamples": 500, "outcome": "margin",
        "higher_is_better": True,
    }  # fmt: skip
    return RefereeSummary(**(given | more))


def test_the_headline_names_the_best_and_the_worst():
    text = headline(summary(method("a", 1500, 500, 0), method("b", 10, 10, 20)))
    assert text == "Confirmed most: a, 1,500 of 2,000 claims (75 %). Reversed most: b, 20 of 40 claims (50 %)."


def test_the_headline_of_one_method_of_none_reversed_and_of_no_claim():
    assert headline(summary(method("a", 1, 2, 1))) == "Of a, 1 of 4 claims (25 %) are confirmed and 1 reversed."
    assert headline(summary(method("a", 1, 1, 0), method("b", 0, 2, 0))).endswith("No claim of any method is reversed.")
    assert "2,995 of 2,997 claims (99.9 %)" in headline(summary(method("a", 2995, 2, 0)))
    assert headline(summary(method("a", 0, 0, 0))) == "No method claims anything, so there is nothing to decide."


@pytest.mark.parametrize(
    ("correction", "words"),
    (("by", "at most 10 % are expected to be wrong, for each method (Benjamini–Yekutieli"),
     ("holm", "the chance that any is wrong is at most 10 %, for each method (Holm")),
)  # fmt: skip
def test_the_promise_is_that_of_the_correction(correction, words):
    assert words in promise(summary(method("a", 1, 1, 1), correction=correction))


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


def test_a_leak_is_warned_of_unless_it_cannot_be_or_the_user_answers_for_it():
    files = summary(method("a", 1, 1, 1), method("b", 1, 1, 1).model_copy(update={"source": OWN}))
    assert "p-values are not valid" in leak_words(files, False)
    assert "--unseen" in leak_words(files, False)
    assert leak_words(files, True).startswith("The user says")
    own = summary(files.methods[1])
    assert leak_words(own, False) == "The datamodel of this configuration was fitted on models that are not tested."


def test_figures_as_text():
    assert Figure(value=-0.25, low=-0.5, high=0.125).text() == "−0.250 (−0.500 to 0.125)"
    assert Figure(value=None, low=None, high=None).text() == "–"


def test_a_few_words_for_the_run():
    assert summary(method("a", 1500, 0, 2)).describe() == "a 1,500 confirmed and 2 reversed of 1,502"


def test_tables_come_back(tmp_path):
    columns = {"a": np.array([1, 2]), "b": np.array([0.5, np.nan])}
    write_columns(tmp_path / "t.parquet", columns)
    found = read_columns(tmp_path / "t.parquet")
    for name, values in columns.items():
        np.testing.assert_array_equal(found[name], values)
