"""Columns of pairs: what is not testable stays empty and says so, groups of any size stand in one table."""

import numpy as np
import pytest
from simulated_models import simulated

from datamodels_inf import Datamodel, contrast, prepare_targets
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.pair_answers import BLIND, EFFECTS, FEW, NOT_EXCHANGEABLE, NOTES, NOTHING_TO_COMPARE, PairAnswers

MASKS, OUTCOMES = simulated(n=300, targets=1)
THETA = np.zeros((30, 1))
THETA[3] = 1.0
(TARGET,) = prepare_targets(MASKS, OUTCOMES, Datamodel(THETA, np.zeros(1), np.full(1, np.nan)))


def all_of(pairs):
    return np.ones(len(pairs), bool)


def test_pairs_that_may_not_be_tested_keep_nothing_but_theta():
    answers = PairAnswers(["swap", "contrast"], lambda pairs: pairs[:, 0, 0] == 3)
    columns = answers.of_members([TARGET], THETA[:, 0], np.array([[[3], [8]], [[4], [5]]]))
    assert columns["note contrast"].tolist() == [0, NOT_EXCHANGEABLE]
    for name in (*EFFECTS, "pvalue swap", "statistic contrast"):
        assert np.isfinite(columns[name][0]) and np.isnan(columns[name][1]), name
    assert columns["theta_i"].tolist() == [1.0, 0.0] and columns["n_informative"][1] == 0


def test_notes_say_what_could_not_be_seen():
    assert len(NOTES) == 5 and NOTES[0] == ""
    masks = MASKS.copy()
    masks[:, 5] = masks[:, 4]
    masks[:12, 4] = ~masks[:12, 5]
    masks[:, 7] = masks[:, 6]
    (target,) = prepare_targets(masks, OUTCOMES, Datamodel(THETA, np.zeros(1), np.full(1, np.nan)))
    answers = PairAnswers(["swap", "contrast"], all_of)
    columns = answers.of_members([target], THETA[:, 0], np.array([[[3], [8]], [[1], [2]], [[4], [5]], [[6], [7]]]))
    assert columns["note swap"].tolist() == [0, BLIND, BLIND, BLIND]
    assert columns["note contrast"].tolist() == [0, 0, FEW, NOTHING_TO_COMPARE]


def test_groups_of_several_sizes_stand_at_their_places():
    left, right, bounds = np.array([3, 3, 4, 5]), np.array([8, 8, 9, 6]), np.array([0, 1, 3, 4])
    pairs = Pairs(left, right, bounds, np.zeros(3, np.int64), np.zeros(3, np.int8), ("",))
    columns = PairAnswers(["contrast"], all_of).of_tests(pairs, np.arange(3), [TARGET], THETA[:, 0])
    expected = [contrast(MASKS, OUTCOMES[:, 0], i, j, theta=THETA[:, 0]) for i, j in ((3, 8), ([3, 4], [8, 9]), (5, 6))]
    assert columns["pvalue contrast"].tolist() == [one.pvalue for one in expected]
    assert columns["effect"].tolist() == [one.estimate for one in expected]


@pytest.mark.parametrize(("blocks", "growing"), ((1, ()), (2, ("paired", "contrast"))))
def test_only_methods_that_combine_blocks_grow(blocks, growing):
    answers = PairAnswers(["swap", "paired", "contrast"], all_of, blocks)
    assert answers.growing == growing
    parts = [
        next(prepare_targets(MASKS[rows], OUTCOMES[rows], Datamodel(THETA, np.zeros(1), np.full(1, np.nan))))
        for rows in ([slice(0, 300)] if blocks == 1 else [slice(0, 150), slice(150, 300)])
    ]
    columns = answers.of_members(parts, THETA[:, 0], np.array([[[3], [8]]]))
    for name in growing:
        assert columns[f"growth {name}"].shape == (1, 2)
        assert columns[f"growth {name}"][0, -1] == columns[f"pvalue {name}"][0] != columns[f"growth {name}"][0, 0]
