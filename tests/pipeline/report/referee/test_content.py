"""Claims as the page and the tables show them."""

from dataclasses import replace

import pytest

from pipeline.images.item_names import ItemNames
from pipeline.report.referee.content import claim_of


@pytest.mark.parametrize(
    ("pair", "method", "sides", "effect", "verdict"),
    (
        (0, 0, (0, 3), (0.5, 0.25, 0.75), "confirmed"),
        (0, 1, (3, 0), (-0.5, -0.75, -0.25), "reversed"),
        (1, 1, (2, 1), (0.25, 0.125, 0.5), "confirmed"),
        (2, 0, (4, 2), (-0.125, -0.75, 0.5), "unproven"),
        (3, 0, (0, 1), (0.75, 0.5, 1.0), "untested"),
    ),
)
def test_a_claim_has_the_effect_of_the_better_instead_of_the_worse(content, pair, method, sides, effect, verdict):
    claim = claim_of(content, pair, method)
    assert (claim.better, claim.worse) == sides
    assert (claim.effect, claim.low, claim.high) == effect
    assert claim.verdict == verdict
    assert claim.method == content.summary.methods[method].name


def test_labels_are_own_names_or_classes_or_nothing(content):
    assert (content.label("train", 1), content.label("target", 0)) == ("dog", "dog")
    named = replace(content, names=ItemNames(train=("a", "b", "c", "d", "e")))
    assert named.label("train", 1) == "b"
    assert replace(content, labels=None).label("train", 1) == ""


def test_the_leak_is_said_unless_the_user_answers_for_it(content):
    assert "p-values are not valid" in content.leak
    assert "--unseen" in content.leak
    assert "The user says" in replace(content, unseen=True).leak
