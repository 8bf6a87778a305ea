"""Which pairs are tested, and that each is tested as the functions for one pair test it."""

import numpy as np
import pandas as pd
import pytest
from simulated_models import simulated

from datamodels_inf import SquaredResidual, analyse, contrast, paired_swap_test, swap_test
from datamodels_inf.analysis.items import Items
from datamodels_inf.analysis.testing import read_pairs
from datamodels_inf.designs.pairs import top_pairs


def test_each_row_is_the_test_of_its_pair():
    masks, outcomes = simulated()
    result = analyse(masks, outcomes, method=["swap", "paired", "contrast"], k=2, seed=5, fit_rows=300)
    model, held_out, y = result.fitted.datamodel, masks[300:], outcomes[300:]
    rows = result.tests()
    assert len(rows) == 3 * len(result.pairs)
    for row in rows.itertuples():
        theta, bias = model.weight[:, row.target], float(model.bias[row.target])
        score, own = SquaredResidual(theta, bias), y[:, row.target]
        if row.method == "contrast":
            found = contrast(held_out, own, row.i, row.j, theta=theta, bias=bias)
            assert (row.effect, (row.effect_low, row.effect_high)) == (found.estimate, found.interval)
            assert row.n_informative == found.n_informative
        else:
            test = swap_test if row.method == "swap" else paired_swap_test
            found = test(held_out, own, row.i, row.j, score=score, rng=5)
        assert (row.statistic, row.pvalue) == (found.statistic, found.pvalue)
        assert (row.theta_i, row.theta_j) == (theta[row.i], theta[row.j])


@pytest.mark.parametrize("better", (True, False))
def test_helpers_raise_what_should_be_high_and_lower_what_should_be_low(better):
    masks, outcomes = simulated()
    result = analyse(masks, outcomes, k=2, versus="hurters", higher_is_better=better, fit_rows=300)
    first = result.tests().iloc[0]
    assert (first["i"], first["j"]) == ((3, 8) if better else (8, 3))
    weight = result.fitted.datamodel.weight * (1 if better else -1)
    expected = top_pairs(weight, np.arange(2), k=2, versus=("hurters",)).distinct()
    assert result.pairs.i.tolist() == expected.i.tolist() and result.pairs.j.tolist() == expected.j.tolist()


def test_pairs_by_number_by_name_and_in_groups():
    items = Items.of(4, 2, names=(list("abcd"), ["x", "y"]))
    for pairs in (
        [(0, 1, 0), ([0, 2], [1, 3], 1)],
        [("a", "b", "x"), (["a", "c"], ["b", "d"], "y")],
        [("a", 1, "x"), (["a", 2], ("b", 3), 1)],
    ):
        drawn = read_pairs(pairs, items)
        assert (drawn.left.tolist(), drawn.right.tolist()) == ([0, 0, 2], [1, 1, 3])
        assert (drawn.target.tolist(), drawn.sizes.tolist()) == ([0, 1], [1, 2])
    array = np.array([[0, 1, 0], [2, 3, 1], [1, 0, 0]])
    for given in (array, pd.DataFrame(array), array.tolist()):
        assert len(read_pairs(given, items)) == 2  # (0, 1) and (1, 0) are one test.


@pytest.mark.parametrize(
    ("pairs", "words"),
    (
        ([], "at least one"),
        ([(0, 1)], "must hold \\(i, j, target\\) in each row, but row 0"),
        (["abc"], "row 0 is 'abc'"),
        ([(0, 0, 0)], "row 0 of `pairs` must differ"),
        ([(0, 9, 0)], "there is no training item 9"),
        ([(0, 1, 5)], "there is no target 5"),
        ([([0, 1], 2, 0)], "groups of equal size"),
        ([("a", 1, 0)], "no names are known"),
    ),
)
def test_bad_pairs(pairs, words):
    with pytest.raises(ValueError, match=words):
        read_pairs(pairs, Items(4, 2))


def test_groups_have_their_members_and_no_class_if_these_are_of_several():
    masks, outcomes = simulated()
    pairs = [([3, 4], [8, 9], 0), ([3, 13], [8, 9], 0)]
    rows = analyse(masks, outcomes, pairs=pairs, labels=np.arange(30) // 10, method="contrast").tests()
    assert rows["members_i"].tolist() == [(3, 4), (3, 13)]
    assert (rows["class_i"].tolist(), rows["class_j"].tolist()) == (["0", ""], ["0", "0"])


def test_columns_of_a_table_of_pairs_are_taken_by_name():
    table = pd.DataFrame({"target": [0], "i": [3], "j": [1]})
    found = read_pairs(table, Items(6, 2))
    assert (found.i.tolist(), found.j.tolist(), found.target.tolist()) == ([3], [1], [0])
    with pytest.raises(ValueError, match="has no 'i'"):
        read_pairs(pd.DataFrame({"a": [0], "b": [1], "target": [0]}), Items(6, 2))
