"""The paired swap test: its p-values by hand and by scipy."""

import numpy as np
import pytest
from naive import naive_exact_pvalue, naive_paired_counts
from scipy.stats import binomtest, wilcoxon
from swap_samples import GOOD, data

from datamodels_inf import SquaredResidual, paired_swap_test
from datamodels_inf.internal.coins import coin_keys, flip_coins


def test_paired_pvalue_with_tau_and_ties_by_hand():
    """30 wins, 10 losses, 20 ties of 60: coins decide the ties, then Bin(60, ½ + τ/2)."""
    signs = np.repeat([1.0, -1.0, 0.0], [30, 10, 20])
    x = np.column_stack([np.ones(60), np.zeros(60)])
    result = paired_swap_test(x, signs, 0, 1, score=lambda x, y: y * x[:, 0], tau=0.2, tau_x=0.0, rng=5)
    heads = int(flip_coins(coin_keys(np.array([[[0], [1]]]), 5), 60)[40:].sum())
    assert 0 < heads < 20
    assert result.statistic == (30 + heads) / 60
    assert result.pvalue == pytest.approx(naive_exact_pvalue(30 + heads, 60, 0.1), abs=0)


def test_paired_pvalues_are_those_of_scipy():
    x, y, theta = data("bool", 2, n=500)
    y = y + 3 * x[:, 0]
    score = SquaredResidual(theta + 3 * np.eye(12)[0])
    wins, ties = naive_paired_counts(x, y, 0, 11, score)
    assert ties > 100
    exact = paired_swap_test(x, y, 0, 11, score=score)
    assert exact.pvalue == pytest.approx(binomtest(wins, 500 - ties).pvalue)
    hoeffding = paired_swap_test(x, y, 0, 11, score=score, pvalue="hoeffding", tau=0.1)
    assert hoeffding.pvalue < 0.5
    assert hoeffding.pvalue == pytest.approx(2 * np.exp(-1000 * (abs(exact.statistic - 0.5) - 0.05) ** 2), abs=0)
    y = y + np.random.default_rng(0).standard_normal(500)
    xs = x.copy()
    xs[:, [0, 11]] = x[:, [11, 0]]
    d = score(x, y) - score(xs, y)
    ranked = paired_swap_test(x, y, 0, 11, score=score, pvalue="signed-rank").pvalue
    assert ranked == pytest.approx(wilcoxon(d[d != 0], correction=True).pvalue, rel=0.02)


@pytest.mark.parametrize("options", ({"tau": 0.1}, {"tau_x": 0.1}))
def test_signed_rank_needs_tau_zero_and_says_why(options):
    with pytest.raises(ValueError, match="symmetric around 0"):
        paired_swap_test(**GOOD, pvalue="signed-rank", **options)
