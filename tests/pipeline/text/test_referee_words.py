"""What the referee's figures say in words."""

import pytest
from referee_summaries import method, summary

from pipeline.text.referee_words import OWN, headline, leak_words, promise


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


def test_a_leak_is_warned_of_unless_it_cannot_be_or_the_user_answers_for_it():
    files = summary(method("a", 1, 1, 1), method("b", 1, 1, 1).model_copy(update={"source": OWN}))
    assert "p-values are not valid" in leak_words(files, False)
    assert "--unseen" in leak_words(files, False)
    assert leak_words(files, True).startswith("The user says")
    own = summary(files.methods[1])
    assert leak_words(own, False) == "The datamodel of this configuration was fitted on models that are not tested."
