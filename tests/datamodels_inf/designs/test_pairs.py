"""Designs: which pairs are tested, and that none is tested twice."""

import numpy as np
import pytest
from pair_designs import listed

from datamodels_inf.designs.pairs import Pairs, grid_pairs, take_runs, top_pairs


def of_groups(tests):
    """Pairs of [(I, J, target), …]."""
    sizes = [len(i) for i, _, _ in tests]
    left, right = ([m for test in tests for m in test[side]] for side in (0, 1))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    target = np.array([t for *_, t in tests])
    return Pairs(np.array(left), np.array(right), bounds, target, np.zeros(len(tests), np.int8), ("list",))


def naive_key(test):
    """What makes two tests one: the target and the set of two sides, each matched member by member."""
    i, j, target = test
    there, back = sorted(zip(i, j, strict=True)), sorted(zip(j, i, strict=True))
    return target, min(tuple(there), tuple(back))


def test_distinct_keeps_the_first_of_equal_tests_and_sorts_by_target():
    pairs = of_groups([
        ((5,), (3,), 9), ((1,), (2,), 4), ((3,), (5,), 9), ((5,), (3,), 4),
        ((1, 2), (3, 4), 4), ((4, 3), (2, 1), 4), ((1, 2), (4, 3), 4), ((1, 4), (3, 2), 4), ((1,), (2,), 4),
    ])  # fmt: skip
    assert listed(pairs.distinct()) == [
        ((1,), (2,), 4), ((5,), (3,), 4), ((1, 2), (3, 4), 4), ((1, 2), (4, 3), 4), ((1, 4), (3, 2), 4),
        ((5,), (3,), 9),
    ]  # fmt: skip


def test_distinct_agrees_with_a_naive_loop_on_groups_of_all_sizes():
    rng = np.random.default_rng(0)
    tests = []
    for _ in range(3000):
        size = int(rng.integers(1, 4))
        members = rng.permutation(7)[: 2 * size].tolist()
        tests.append((tuple(members[:size]), tuple(members[size:]), int(rng.integers(3))))
    seen, expected = set(), []
    for test in tests:
        if naive_key(test) not in seen:
            seen.add(naive_key(test))
            expected.append(test)
    expected.sort(key=lambda test: test[2])
    assert 0 < len(expected) < len(tests)
    assert listed(of_groups(tests).distinct()) == expected


def test_members_and_take():
    pairs = of_groups([((1,), (2,), 0), ((3, 4), (5, 6), 0), ((7, 8), (1, 2), 1)])
    np.testing.assert_array_equal(pairs.members(np.array([2, 1])), [[[7, 8], [1, 2]], [[3, 4], [5, 6]]])
    assert (pairs.i.tolist(), pairs.j.tolist(), pairs.sizes.tolist()) == ([1, 3, 7], [2, 5, 1], [1, 2, 2])
    assert listed(pairs.take(np.array([2, 0]))) == [((7, 8), (1, 2), 1), ((1,), (2,), 0)]
    values, bounds = take_runs(np.array([5, 6, 7]), np.array([0, 0, 2, 3]), np.array([1, 0, 1, 2]))
    assert (values.tolist(), bounds.tolist()) == ([5, 6, 5, 6, 7], [0, 2, 2, 4, 5])


THETA = np.array([[0.0, 3.0], [5.0, 0.0], [-1.0, 0.0], [2.0, -2.0], [0.0, 0.0], [-4.0, 1.0], [0.5, -7.0]])


def test_top_compares_the_strongest_helpers_with_hurters_helpers_and_random_images():
    pairs = top_pairs(THETA, np.array([7, 2]), k=2, random_partners=2, seed=1)
    by_kind = {
        (target, kind): [test for test, k, t in zip(listed(pairs), pairs.kind, pairs.target, strict=True)
                         if (t, pairs.kinds[k]) == (target, kind)]
        for target in (7, 2) for kind in pairs.kinds
    }  # fmt: skip
    assert by_kind[7, "helper against hurter"] == [((1,), (5,), 7), ((3,), (2,), 7)]
    assert by_kind[7, "helper against helper"] == [((1,), (3,), 7)]
    assert by_kind[2, "helper against hurter"] == [((0,), (6,), 2), ((5,), (3,), 2)]
    drawn = by_kind[7, "helper against random image"]
    assert [i for (i,), _, _ in drawn] == [1, 1, 3, 3]
    assert all({j for (i,), (j,), _ in drawn if i == helper} < {0, 4, 6} for helper in (1, 3))
    assert len(set(drawn)) == 4
    assert len(pairs) == 2 * (2 + 1 + 4)
    assert listed(pairs.distinct())[7:] == listed(pairs)[:7]  # Nothing stands there twice.


def test_what_top_draws_depends_on_the_seed_and_the_target_alone():
    rng = np.random.default_rng(3)
    weight = rng.standard_normal((60, 3))
    all_three = top_pairs(weight, np.array([4, 5, 6]), k=3, seed=2)
    alone = top_pairs(weight[:, [2]], np.array([6]), k=3, seed=2)
    assert [test for test in listed(all_three) if test[2] == 6] == listed(alone)
    assert listed(top_pairs(weight[:, [2]], np.array([6]), k=3, seed=3)) != listed(alone)
    hurters = top_pairs(weight, np.array([4, 5, 6]), k=3, versus=["hurters"])
    assert (len(hurters), hurters.kinds) == (9, ("helper against hurter",))


def test_equal_weights_give_disjoint_helpers_and_hurters():
    pairs = top_pairs(np.zeros((4, 1)), np.array([0]), k=2, versus=["hurters"])
    assert listed(pairs) == [((3,), (0,), 0), ((2,), (1,), 0)]


def test_grid_is_every_two_images_on_every_target():
    assert listed(grid_pairs(np.array([9, 2, 5]), np.array([1, 0]))) == [
        ((9,), (2,), 1), ((9,), (5,), 1), ((2,), (5,), 1), ((9,), (2,), 0), ((9,), (5,), 0), ((2,), (5,), 0),
    ]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: grid_pairs(np.array([1, 2, 1]), np.array([0])), "`images` must be different, but image 1 stands"),
    (lambda: top_pairs(THETA, np.array([0, 1]), k=0), "`k` must be a whole number of at least 1"),
    (lambda: top_pairs(THETA, np.array([0, 1]), k=2), "9 images are needed, but there are 7"),
    (lambda: top_pairs(THETA, np.array([0, 1]), k=4, versus=["hurters"]), "8 images are needed"),
    (lambda: top_pairs(THETA, np.array([0, 1]), k=1, versus=["foes"]), "`versus` must be one of 'hurters'"),
    (lambda: top_pairs(THETA[:, :0], np.array([], int), k=1), "`targets` and `versus` must not be empty"),
])  # fmt: skip
def test_bad_input(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
