"""What methods claim: from scores and a seed alone."""

import numpy as np
import pytest

from datamodels_inf.refereeing.claims import KINDS, claims_on, random_partners


def said(claims, method):
    """{(better, worse): (kind, r)} of one method."""
    found = {}
    for (i, j), claim, kind, rank in zip(
        claims.pairs.tolist(), claims.claim[:, method], claims.kind[:, method], claims.rank[:, method], strict=True
    ):
        if claim:
            found[(i, j) if claim > 0 else (j, i)] = KINDS[kind], int(rank)
    return found


def test_each_r_gives_three_claims_with_helper_hurter_and_a_shared_random_image():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((2, 50))
    claims = claims_on(scores, k=3, seed=4, target=9)
    partners = random_partners(50, 3, 4, 9)
    for m, column in enumerate(scores):
        order = np.argsort(-column)
        expected = {}
        for r in (1, 2, 3):
            helper, hurter = int(order[r - 1]), int(order[-r])
            u = next(int(c) for c in partners[r - 1] if c not in (helper, hurter))
            for kind, (a, b) in zip(KINDS, ((helper, hurter), (helper, u), (u, hurter)), strict=True):
                if column[a] > column[b]:
                    expected[a, b] = kind, r
        assert said(claims, m) == expected
        assert claims.silent[m] == 9 - len(expected)
    assert (np.diff(claims.pairs, axis=1) > 0).all()
    assert len(np.unique(claims.pairs, axis=0)) == len(claims.pairs)


def test_a_scale_changes_no_claim_and_a_turned_sign_turns_helpers_into_hurters():
    scores = np.random.default_rng(1).standard_normal((1, 40))
    first, scaled, turned = (claims_on(scores * unit, k=4) for unit in (1.0, 1e-9, -1.0))
    assert said(first, 0) == said(scaled, 0)
    straight = {pair for pair, (kind, _) in said(first, 0).items() if kind == KINDS[0]}
    assert {pair[::-1] for pair, (kind, _) in said(turned, 0).items() if kind == KINDS[0]} == straight


@pytest.mark.parametrize("scores", (np.zeros(20), np.ones(20)), ids=("zeros", "constant"))
def test_scores_that_say_nothing_claim_nothing_and_that_is_counted(scores):
    claims = claims_on([scores], k=5)
    assert not len(claims.pairs)
    assert claims.silent.tolist() == [15]


def test_a_helper_whose_score_is_zero_claims_nothing():
    """Two weights of a LASSO: one helper and one hurter, and no second ones."""
    scores = np.zeros(30)
    scores[7], scores[11] = 2.0, -1.0
    claims = said(claims_on([scores], k=4, seed=3), 0)
    assert claims[7, 11] == (KINDS[0], 1)
    assert len(claims) == 3
    assert all(7 in pair or 11 in pair for pair in claims)


def test_scores_that_are_all_positive_still_order_images():
    scores = np.linspace(1.0, 2.0, 20)
    assert said(claims_on([scores], k=2), 0)[19, 0] == (KINDS[0], 1)


def test_random_images_depend_on_seed_and_target_alone():
    assert np.array_equal(random_partners(100, 5, 1, 2), random_partners(100, 5, 1, 2))
    assert not np.array_equal(random_partners(100, 5, 1, 2), random_partners(100, 5, 1, 3))
    assert not np.array_equal(random_partners(100, 5, 1, 2), random_partners(100, 5, 2, 2))
    for row in random_partners(3, 3, 0, 0):
        assert sorted(row.tolist()) == [0, 1, 2]


def test_gap_is_the_difference_of_places_with_shared_places_for_equal_scores():
    scores = [[5.0, 4.0, 4.0, -1.0], [1.0, 2.0, 3.0, 4.0]]
    claims = claims_on(scores, k=1)
    places = np.array([[1.0, 2.5, 2.5, 4.0], [4.0, 3.0, 2.0, 1.0]])
    for (i, j), gap in zip(claims.pairs, claims.gap, strict=True):
        np.testing.assert_allclose(gap, (places[:, j] - places[:, i]) / 3, rtol=1e-6)


def test_more_claims_than_images_are_no_trouble():
    claims = claims_on([[1.0, -1.0, 0.5]], k=9)
    assert all(a != b for a, b in said(claims, 0))
    assert claims.silent[0] == 27 - len(said(claims, 0))


@pytest.mark.parametrize(
    ("scores", "sentence"),
    (
        (np.ones((1, 2)), "at least 3 images"),
        ([[1.0, np.nan, 2.0]], "must be finite"),
        (np.ones(4), r"\(methods, images\)"),
        ([["a", "b", "c"]], "real numbers"),
    ),
)
def test_bad_scores_are_refused(scores, sentence):
    with pytest.raises(ValueError, match=sentence):
        claims_on(scores)


def test_k_must_be_a_count():
    with pytest.raises(ValueError, match="`k` must be a whole number of at least 1"):
        claims_on([[1.0, 2.0, 3.0]], k=0)
