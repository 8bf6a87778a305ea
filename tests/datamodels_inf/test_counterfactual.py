"""Couples of fresh models have the mean Δ, whatever a model does with its mask: against all masks of six images."""

import itertools

import numpy as np
import pytest
from long_runs import times
from scipy.stats import chisquare

from datamodels_inf.counterfactual import Retrained, Swapped

D = 6
MASKS = np.array(list(itertools.product((False, True), repeat=D)))
CODES = 2 ** np.arange(D)[::-1]
TABLE = np.random.default_rng(0).standard_normal(2**D)
"""A margin for each mask, with interactions of all orders."""
LAWS = {
    "fixed-size": ("fixed-size", 0.5),
    "bernoulli": ("bernoulli", 0.3),
}
GROUPS = {"pair": ((1,), (4,)), "groups": ((1, 5), (0, 3))}


def chance_of(law, proportion):
    """P(x) of every mask, written out."""
    size = MASKS.sum(axis=1)
    if law == "fixed-size":
        return (size == round(proportion * D)) / (size == round(proportion * D)).sum()
    return proportion**size * (1 - proportion) ** (D - size)


def margin(masks):
    return TABLE[masks @ CODES]


def sides(left, right):
    """Which masks hold all of one group and none of the other, for both orders."""
    one, other = list(left), list(right)
    return [MASKS[:, a].all(axis=1) & ~MASKS[:, b].any(axis=1) for a, b in ((one, other), (other, one))]


def naive_delta(left, right, law, proportion):
    """E[y | I in, J out] − E[y | I out, J in], over all masks."""
    chance = chance_of(law, proportion)
    first, second = (np.average(margin(MASKS[rows]), weights=chance[rows]) for rows in sides(left, right))
    return first - second


def couples(left, right, law, proportion, n=4000, seed=3):
    return Swapped(D, left, right, proportion, law).couples(0, n, seed=seed)


def is_delta(with_left, with_right, delta):
    """Whether the mean of couples may be Δ: within 4 standard errors."""
    found = Retrained.of(with_left, with_right)
    return abs(found.effect - delta) < 4 * found.standard_error


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_rest_of_a_couple_has_its_conditional_law_and_the_mean_is_delta(law, groups):
    left, right = groups
    with_left, with_right = couples(left, right, *law)
    assert with_left[:, left].all()
    assert not with_left[:, right].any()
    assert with_right[:, right].all()
    assert not with_right[:, left].any()
    others = np.setdiff1d(np.arange(D), [*left, *right])
    np.testing.assert_array_equal(with_left[:, others], with_right[:, others])

    (allowed, reverse), chance = sides(left, right), chance_of(*law)
    expected = np.where(allowed, chance, 0.0) / chance[allowed].sum()
    drawn = np.bincount(with_left @ CODES, minlength=2**D)
    assert not drawn[expected == 0].any()
    possible = expected > 0
    if possible.sum() > 1:
        assert chisquare(drawn[possible], len(with_left) * expected[possible]).pvalue > 1e-4
    # The proof of the module, number by number: Σ_r ρ(r)·(m(r + I) − m(r + J)) = Δ.
    swapped = MASKS.copy()
    swapped[:, [*left, *right]] = MASKS[:, [*right, *left]]
    mean = expected @ (margin(MASKS) - margin(swapped))
    assert mean == pytest.approx(naive_delta(left, right, *law), abs=1e-12)
    assert chance[allowed].sum() == pytest.approx(chance[reverse].sum())


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_couples_are_unbiased_with_or_without_the_same_weights_and_a_wrong_couple_is_seen(law):
    left, right = GROUPS["pair"]
    delta, rng = naive_delta(left, right, *law), np.random.default_rng(8)
    with_left, with_right = couples(left, right, *law)
    noise, other = rng.standard_normal((2, len(with_left)))
    shared = margin(with_left) + noise, margin(with_right) + noise
    apart = margin(with_left) + noise, margin(with_right) + other
    assert is_delta(*shared, delta)
    assert is_delta(*apart, delta)
    assert Retrained.of(*shared).standard_error < 0.9 * Retrained.of(*apart).standard_error
    forgot = with_left.copy()
    forgot[:, right] = True  # j was not removed from the model with i.
    assert not is_delta(margin(forgot) + noise, margin(with_right) + noise, delta)
    assert not is_delta(shared[1], shared[0], delta)  # i and j exchanged.


def test_a_couple_depends_on_the_seed_and_its_number_alone():
    swapped = Swapped(50, [3], [7])
    whole, part = swapped.couples(0, 20, seed=5), swapped.couples(13, 20, seed=5)
    for all_of_it, rest in zip(whole, part, strict=True):
        np.testing.assert_array_equal(all_of_it[13:], rest)
    assert (whole[0] != swapped.couples(0, 20, seed=6)[0]).any()
    assert (whole[0].sum(axis=1) == 25).all()


def test_without_influence_a_pair_is_open_most_of_the_time_and_no_sign_is_preferred():
    """The margin is a function of the rest and of noise that depends on the side; level 0.05."""
    repetitions, rng = times(2000, 40_000), np.random.default_rng(1)
    directions = np.zeros(3, int)
    for _ in range(repetitions):
        rest = rng.standard_normal(20)
        a, b = rest + rng.standard_exponential(20), rest + rng.standard_exponential(20)
        directions[Retrained.of(a, b).direction + 1] += 1
    wrong = (directions[0] + directions[2]) / repetitions
    assert 0.025 < wrong < 0.05 + 4 * np.sqrt(0.05 * 0.95 / repetitions)
    assert abs(directions[0] - directions[2]) < 4 * np.sqrt(directions[0] + directions[2])


def test_the_interval_is_students_and_covers_delta():
    with_left, with_right = couples(*GROUPS["pair"], *LAWS["bernoulli"], n=8 * times(400, 8000))
    delta = naive_delta(*GROUPS["pair"], *LAWS["bernoulli"])
    parts = zip(margin(with_left).reshape(-1, 8), margin(with_right).reshape(-1, 8), strict=True)
    found = [Retrained.of(a, b) for a, b in parts]
    covered = np.mean([one.low <= delta <= one.high for one in found])
    assert covered > 0.92
    normal = np.mean([abs(one.effect - delta) <= 1.96 * one.standard_error for one in found])
    assert normal < covered  # The quantile of 8 couples is not the normal one.


def test_verdicts_and_distances():
    up = Retrained(0.5, 0.1, 0.3, 0.7, 100, 0.95)
    down, unsure = (Retrained(-0.5, 0.1, -0.7, -0.3, 100, 0.95), Retrained(0.1, 0.1, -0.1, 0.3, 100, 0.95))
    assert [one.verdict(0.4) for one in (up, down, unsure)] == ["confirmed", "reversed", "open"]
    assert [one.verdict(-0.4) for one in (up, down, unsure)] == ["reversed", "confirmed", "open"]
    assert [one.verdict(float("nan")) for one in (up, down, unsure)] == ["confirmed", "confirmed", "open"]
    assert up.distance(0.8, 0.1) == pytest.approx(0.3 / np.hypot(0.1, 0.1))
    assert not up.compatible(0.8, 0.1)
    assert up.compatible(0.75, 0.1)
    assert np.isnan(up.distance(0.8, np.inf))
    still = Retrained.of([1.0, 1.0], [0.0, 0.0])
    assert (still.effect, still.low, still.verdict(1.0)) == (1.0, -np.inf, "open")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"right": [3]}, "disjoint groups"),
        ({"left": [3, 4]}, "disjoint groups"),
        ({"left": [3, 4], "right": [5, 6], "n_train": 6}, "from 0 to 5"),
        ({"left": [0, 1], "right": [2, 3], "proportion": 0.2}, "no mask of 1 of 6 images holds 2"),
        ({"law": "stratified"}, "`law` must be one of"),
        ({"proportion": 1.0}, "`proportion` must lie strictly"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, words):
    settings = {"n_train": 6, "left": [3], "right": [5]} | changes
    with pytest.raises(ValueError, match=words):
        Swapped(**settings)


def test_one_couple_has_no_interval():
    with pytest.raises(ValueError, match="at least two couples"):
        Retrained.of([1.0], [0.0])


@pytest.mark.parametrize("n", (2, 5, 50))
def test_a_true_claim_is_compatible_with_few_couples_too(n):
    rng = np.random.default_rng(3)
    differences = rng.normal(size=(4000, n))
    estimates = 0.3 * rng.normal(size=4000)
    hits = [
        Retrained.of(d, np.zeros(n)).compatible(estimate, 0.3)
        for d, estimate in zip(differences, estimates, strict=True)
    ]
    assert np.mean(hits) >= 0.94


@pytest.mark.parametrize("n", (3, 4, 7))
def test_couples_that_do_not_vary_have_no_interval(n):
    found = Retrained.of([0.1] * n, [0.0] * n)
    assert (found.standard_error, found.verdict(0.1)) == (np.inf, "open")
