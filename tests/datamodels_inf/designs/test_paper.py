"""The paper's design."""

from collections import Counter

import numpy as np
import pytest

from datamodels_inf.designs.paper import draw_pairs

LABELS = np.repeat(np.arange(10), 30)
TARGETS = np.array([3, 14, 15])


@pytest.mark.parametrize(("design", "count"), [("paper", 2000), ("paper-unordered", 1100)])
def test_every_class_pair_has_its_draws(design, count):
    rows = draw_pairs(design, LABELS, TARGETS)
    assert rows.shape == (count, 3)
    classes = Counter(zip(LABELS[rows[:, 0]].tolist(), LABELS[rows[:, 1]].tolist(), strict=True))
    assert set(classes.values()) == {20}
    assert len(classes) == count // 20
    assert (rows[:, 0] != rows[:, 1]).all()
    assert set(rows[:, 2]) == set(TARGETS)


def test_no_test_stands_twice_and_the_seed_decides():
    rows = draw_pairs("paper", LABELS, TARGETS, seed=4)
    assert len({(min(i, j), max(i, j), t) for i, j, t in rows.tolist()}) == len(rows)
    np.testing.assert_array_equal(rows, draw_pairs("paper", LABELS, TARGETS, seed=4))
    assert (rows != draw_pairs("paper", LABELS, TARGETS, seed=5)).any()


@pytest.mark.parametrize("design", ("paper", "paper-unordered"))
def test_the_draws_are_those_of_one_triple_after_the_other(design):
    """A seed means what it says: i, j and target in turn, and once more where the triple is not new."""
    labels, targets, repeats = np.repeat(np.arange(3), [4, 6, 3]), np.array([8, 2]), 3
    rng = np.random.default_rng(7)
    expected, seen = [], set()
    for a in range(3):
        for b in range(a if design == "paper-unordered" else 0, 3):
            groups = np.flatnonzero(labels == a), np.flatnonzero(labels == b), targets
            for _ in range(repeats):
                while True:
                    i, j, target = (int(rng.choice(group)) for group in groups)
                    if i != j and (min(i, j), max(i, j), target) not in seen:
                        break
                seen.add((min(i, j), max(i, j), target))
                expected.append((i, j, target))
    np.testing.assert_array_equal(draw_pairs(design, labels, targets, repeats=repeats, seed=7), expected)


def test_small_supply_is_used_up_but_not_exceeded():
    labels = np.array([0, 0, 1, 1])
    rows = draw_pairs("paper", labels, np.array([0]), repeats=1)
    assert len(rows) == 4
    with pytest.raises(ValueError, match="`repeats` must be at most the number of different tests"):
        draw_pairs("paper", labels, np.array([0]), repeats=2)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"design": "all"}, "`design` must be one of 'paper', 'paper-unordered'"),
    ({"repeats": 0}, "`repeats` must be at least 1"),
    ({"targets": np.array([], int)}, "`targets` must not be empty"),
])  # fmt: skip
def test_bad_input(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        draw_pairs(**{"design": "paper", "train_labels": LABELS, "targets": TARGETS, **change})
