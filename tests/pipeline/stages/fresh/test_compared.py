"""Findings and others are counted apart, and what is not known is left out."""

import numpy as np

from datamodels_inf import PackedMasks
from pipeline.stages.fresh.compared import FEWEST, Compared, Estimates, n_others, signs_of_halves
from pipeline.stages.fresh.models import FreshModels


def compared_of(effect, found):
    effect, found = np.array(effect, float), np.array(found)
    one = np.ones(len(effect))
    selected = np.where(found, 3.0, np.nan)
    return Compared(found, effect, one, effect - 2, effect + 2, effect - selected, effect + selected)


def test_findings_and_others_are_two_answers():
    tests = compared_of([1, 2, 3, 4, -1, 5], [True, True, True, True, False, False])
    fresh = Estimates(np.array([1.0, 2, -3, np.nan, 1, 5]), np.full(6, 0.5), np.full(6, 99.0))
    signs = np.array([[np.sign([1, 1, -1, 0, 1, 1]), np.sign([1, -1, -1, 0, 1, 1])]]).astype(np.int8)
    made = tests.family(fresh, signs, 50, 4, count_false=True)
    assert (made.n_tests, made.n_found) == (50, 4)
    assert (made.findings.n, made.findings.same_sign) == (3, 2 / 3)
    assert made.findings.coverage == made.findings.coverage_selected == 2 / 3  # 6 apart is too far for both.
    assert made.findings.false_share == 2 / 3
    assert (made.others.n, made.others.same_sign, made.others.false_share) == (2, 0.5, None)
    none = compared_of([1.0], [False]).family(fresh.take(np.array([0])), signs[:, :, :1], 1, 0, count_false=True)
    assert none.findings is None
    assert tests.family(fresh, signs, 50, 4, count_false=False).findings.false_share is None


def test_the_columns_of_the_table():
    tests = compared_of([1.0, 2.0], [True, False])
    columns = tests.columns(Estimates(np.array([3.0, 4.0]), np.ones(2), np.ones(2)))
    assert list(columns) == [
        "finding", "effect", "se", "low", "high", "low_selected", "high_selected", "fresh", "fresh_se",
    ]  # fmt: skip
    assert columns["fresh"].tolist() == [3.0, 4.0]
    assert np.isnan(columns["low_selected"]).tolist() == [False, True]


def test_signs_of_halves_are_those_of_their_own_estimates():
    bits = PackedMasks.from_bool(np.ones((8, 3), bool))
    models = FreshModels(bits, np.arange(8, dtype=np.float32)[:, None])

    def estimate(half):
        total = float(half.margins.sum()) - 14.0  # Of 0 … 7, the halves' sums are 14 on average.
        return Estimates(np.array([total, -total, np.nan]), np.ones(3), np.ones(3))

    signs = signs_of_halves(models.splits(5, 0), estimate)
    assert signs.shape == (5, 2, 3)
    assert (signs[:, 0, 0] == -signs[:, 1, 0]).all()
    assert (signs[..., 0] == -signs[..., 1]).all()
    assert not signs[..., 2].any()


def test_as_many_others_as_findings_and_some_where_there_are_few():
    assert n_others(500, 10_000) == 500
    assert n_others(0, 10_000) == FEWEST
    assert n_others(500, 30) == 30
