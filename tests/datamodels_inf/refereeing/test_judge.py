"""The whole in memory: pairs are tested as `contrast` tests them, and a turned sign is found out."""

import numpy as np
import pytest

import datamodels_inf
from datamodels_inf import contrast, referee

D, T, N = 25, 3, 500


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(11)
    masks, truth = rng.random((N, D)) < 0.5, rng.standard_normal((D, T))
    outcomes = masks @ truth + rng.standard_normal((N, T))
    scores = {"good": truth, "turned": -truth, "noise": rng.standard_normal((D, T)), "none": np.zeros((D, T))}
    return masks, outcomes, scores, truth


def judged(case, **options):
    masks, outcomes, scores, truth = case
    return referee(masks, outcomes, scores, theta=0.8 * truth, bias=np.zeros(T), **options)


def test_every_pair_has_the_contrast_of_its_two_images(case):
    masks, outcomes, _, truth = case
    result = judged(case)
    for p in range(0, len(result.pairs), 7):
        t = result.target[p]
        one = contrast(masks, outcomes[:, t], *result.pairs[p].tolist(), theta=0.8 * truth[:, t])
        assert (result.effect[p], result.pvalue[p]) == (one.estimate, one.pvalue)
        assert (result.low[p], result.high[p]) == one.interval


def test_a_turned_method_is_reversed_where_the_straight_one_is_confirmed(case):
    result = judged(case)
    good, turned, noise, none = (result.counts()[name] for name in ("good", "turned", "noise", "none"))
    assert good["confirmed"] > 35 > 0 == good["reversed"]
    assert turned["reversed"] > 35 > 0 == turned["confirmed"]
    assert noise["confirmed"] > 3 < noise["reversed"]  # Random claims are right about as often as wrong.
    assert set(none.values()) == {0}
    found = result.contradictions()
    assert set(found.right.tolist()) <= {0, 2}
    assert {1} <= set(found.wrong.tolist())
    right, wrong = result.decided("good", "turned")
    assert right > 35 > 0 == wrong
    assert result.decided("turned", "good") == (wrong, right)


def test_less_is_better_turns_every_verdict(case):
    straight, turned = judged(case), judged(case, higher_is_better=False)
    for one, other in zip(straight.rulings, turned.rulings, strict=True):
        np.testing.assert_array_equal(one.verdict, -other.verdict)


def test_a_method_is_judged_alike_in_any_company(case):
    masks, outcomes, scores, truth = case
    whole = judged(case)
    for name in ("good", "noise"):
        alone = referee(masks, outcomes, {name: scores[name]}, theta=0.8 * truth, bias=np.zeros(T))
        assert alone.counts()[name] == whole.counts()[name]


def test_a_stricter_level_finds_less(case):
    found = [sum(judged(case, alpha=alpha).counts()["noise"][v] for v in ("confirmed", "reversed"))
             for alpha in (1e-12, 0.1)]  # fmt: skip
    assert found[0] < found[1]


def test_shapes_must_fit(case):
    masks, outcomes, _, truth = case
    with pytest.raises(ValueError, match=r"must have shape \(25, 3\), as `theta`, but it is \(3, 25\)"):
        referee(masks, outcomes, {"a": truth.T}, theta=truth, bias=np.zeros(T))


def test_it_is_at_the_front_door():
    assert "referee" in datamodels_inf.__all__
    with pytest.raises(AttributeError, match="no attribute 'umpire'"):
        _ = datamodels_inf.umpire


def test_masks_that_break_the_premise_are_refused_unless_the_user_answers_for_them(case):
    masks, outcomes, scores, truth = case
    twice, again = np.repeat(masks[:250], 2, axis=0), np.repeat(outcomes[:250], 2, axis=0)
    with pytest.raises(ValueError, match="not independent and exchangeable"):
        referee(twice, again, scores, theta=truth, bias=np.zeros(T))
    assert referee(twice, again, scores, theta=truth, bias=np.zeros(T), allow_unexchangeable=True).counts()


def test_claims_across_the_classes_of_stratified_masks_are_not_tested(case):
    _, _, _, truth = case
    rng = np.random.default_rng(2)
    labels = np.arange(24) % 2
    masks = np.zeros((N, 24), bool)
    for row in masks:
        for label in (0, 1):
            row[rng.choice(np.flatnonzero(labels == label), 6, replace=False)] = True
    outcomes = masks @ truth[:24] + rng.standard_normal((N, T))
    counts = referee(masks, outcomes, {"good": truth[:24]}, theta=truth[:24], bias=np.zeros(T), labels=labels).counts()[
        "good"
    ]
    assert counts["untested"] > 5 and counts["confirmed"] > 5 and counts["reversed"] == 0


def test_one_target_may_be_a_single_column(case):
    masks, outcomes, _, truth = case
    one = referee(masks, outcomes[:, 0], {"good": truth[:, 0]}, theta=truth[:, 0], bias=np.zeros(1))
    assert one.counts()["good"]["confirmed"] > 10
