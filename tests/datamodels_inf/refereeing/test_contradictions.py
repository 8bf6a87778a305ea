"""Who is right where two methods disagree, against loops over all pairs."""

import numpy as np

from datamodels_inf.refereeing.contradictions import contradictions, decided
from datamodels_inf.refereeing.verdicts import rule

RNG = np.random.default_rng(5)
CLAIM = RNG.integers(-1, 2, (60, 3)).astype(np.int8)
GAP = np.where(CLAIM != 0, CLAIM * RNG.random((60, 3)), RNG.uniform(-1, 1, (60, 3))).astype(np.float32)
RULINGS = [rule(column, RNG.random(60) ** 8, RNG.choice([-1, 1], 60).astype(np.int8)) for column in CLAIM.T]


def test_contradictions_are_confirmed_claims_that_another_method_has_the_other_way_round():
    expected = [
        (-abs(GAP[p, b]), p, a, b)
        for p in range(60)
        for a in range(3)
        for b in range(3)
        if a != b and RULINGS[a].verdict[p] == 1 and CLAIM[p, a] * GAP[p, b] < 0
    ]
    found = contradictions(CLAIM, GAP, RULINGS)
    assert len(found) == len(expected) > 10
    rows = zip(-found.disagreement, found.pair.tolist(), found.right.tolist(), found.wrong.tolist(), strict=True)
    assert list(rows) == sorted(expected)
    assert (np.diff(found.first(5).disagreement) <= 0).all()
    assert len(found.first(5)) == 5


def test_decided_counts_each_pair_once():
    for a, b in ((0, 1), (1, 0), (0, 2)):
        right = {a: 0, b: 0}
        for p in range(60):
            winner = set()
            for own, other in ((a, b), (b, a)):
                if CLAIM[p, own] * GAP[p, other] < 0 and RULINGS[own].verdict[p]:
                    winner.add(own if RULINGS[own].verdict[p] == 1 else other)
            if len(winner) == 1:
                right[winner.pop()] += 1
        assert decided(CLAIM, GAP, RULINGS, a, b) == (right[a], right[b])
        assert right[a] + right[b] > 0


def test_equal_places_are_no_contradiction_and_one_method_has_none():
    ruling = rule(np.array([1], np.int8), np.array([1e-9]), np.array([1], np.int8))
    claim, gap = np.array([[1, 0]], np.int8), np.array([[0.5, 0.0]], np.float32)
    silent = rule(np.array([0], np.int8), np.array([1e-9]), np.array([1], np.int8))
    assert not len(contradictions(claim, gap, [ruling, silent]))
    assert not len(contradictions(claim[:, :1], gap[:, :1], [ruling]))
