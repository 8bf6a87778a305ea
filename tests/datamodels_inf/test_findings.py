"""What the correction makes of a table of tests: each method a family, and the findings' longer intervals."""

from types import SimpleNamespace

import numpy as np
import pytest

from datamodels_inf import adjust_pvalues, selected_confidence
from datamodels_inf.contrast import effect_interval
from datamodels_inf.findings import Family, decide, error_rate
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape

RULE = SimpleNamespace(alpha=0.1, correction="bh")
N = 40


def table(seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(2 * N) ** 4
    p[3] = np.nan
    return {
        "method": np.repeat(["swap", "contrast"], N),
        "pvalue": p,
        "effect": rng.standard_normal(2 * N),
        "effect_se": rng.random(2 * N),
        "effect_df": np.full(2 * N, 50.0),
        "i": np.arange(2 * N),
    }


def test_each_method_is_a_family():
    made = decide(table(), RULE, n_rows={"swap": 100, "contrast": 300})
    for method, rows, part in (("swap", 100, slice(0, N)), ("contrast", 300, slice(N, 2 * N))):
        p = table()["pvalue"][part]
        adjusted = adjust_pvalues(p, "bh")
        assert np.array_equal(made["pvalue_adjusted"][part], adjusted, equal_nan=True), method
        found = adjusted <= 0.1
        assert (made["finding"][part] == found).all() and 0 < found.sum() < N
        level = max(0.95, selected_confidence("bh", 0.1, int((~np.isnan(p)).sum()), int(found.sum())))
        effects = [table()[name][part] for name in ("effect", "effect_se", "effect_df")]
        low, high = effect_interval(*effects, level)
        assert np.array_equal(made["effect_low_selected"][part], np.where(found, low, np.nan), equal_nan=True)
        assert np.array_equal(made["effect_high_selected"][part], np.where(found, high, np.nan), equal_nan=True)
        assert made["n_rows"][part].tolist() == [0 if np.isnan(value) else rows for value in p]
    assert (made["weight"] == 1.0).all() and made["i"].tolist() == list(range(2 * N))


def test_weights_of_a_prior_are_those_of_its_tests():
    weight = np.full(N, 0.5)
    weight[: N // 2] = 1.5
    prior = Prior(weight, Shape.benjamini_yekutieli(N))
    rule = SimpleNamespace(alpha=0.2, correction="prior")
    own = {name: values[N:] for name, values in table().items()}
    made = decide(own, rule, n_rows={"contrast": 5}, priors={"contrast": prior})
    assert made["weight"].tolist() == weight.tolist()
    assert (made["finding"] == Family(own["pvalue"], rule, prior).found).all() and made["finding"].any()


@pytest.mark.parametrize(
    ("correction", "words"),
    (
        ("by", "at a false discovery rate of 0.1 (Benjamini–Yekutieli)"),
        ("holm", "at a family-wise error of 0.1 (Holm)"),
    ),
)
def test_what_is_promised(correction, words):
    rule = SimpleNamespace(alpha=0.1, correction=correction)
    assert error_rate(rule) == words
    assert error_rate(rule, 2000) == words.replace(")", " over 2,000 tests)")
    assert error_rate(rule, 1) == words.replace(")", " over 1 test)")
