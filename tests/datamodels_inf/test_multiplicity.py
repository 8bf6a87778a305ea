"""Adjusted p-values against the definitions."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from datamodels_inf import adjust_pvalues
from datamodels_inf.multiplicity import CORRECTIONS, critical_values, selected_confidence, threshold
from datamodels_inf.shape import Shape, harmonic

WITHOUT_PRIOR = [name for name, correction in CORRECTIONS.items() if not correction.needs_prior]


def step_up(p, alpha, weight):
    """Benjamini–Hochberg by its definition: reject the k smallest, k the largest with p_(k) ≤ α·k/(m·weight)."""
    m, order = len(p), np.argsort(p)
    passed = np.flatnonzero(p[order] <= alpha * np.arange(1, m + 1) / (m * weight))
    rejected = np.zeros(m, bool)
    if passed.size:
        rejected[order[: passed[-1] + 1]] = True
    return rejected


@pytest.mark.parametrize("alpha", (0.01, 0.1, 0.2, 0.5))
@pytest.mark.parametrize("seed", range(5))
def test_rejections_are_those_of_the_definitions(alpha, seed):
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.random(40), rng.random(20) ** 6])
    m, order = len(p), np.argsort(p)
    np.testing.assert_array_equal(adjust_pvalues(p, "bh") <= alpha, step_up(p, alpha, 1.0))
    harmonic = (1 / np.arange(1, m + 1)).sum()
    np.testing.assert_array_equal(adjust_pvalues(p, "by") <= alpha, step_up(p, alpha, harmonic))
    np.testing.assert_allclose(adjust_pvalues(p, "bonferroni"), np.minimum(1, p * m))
    holm = np.empty(m)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * (m - np.arange(m))))
    np.testing.assert_allclose(adjust_pvalues(p, "holm"), holm)


def test_the_papers_arithmetic():
    """Three p-values of 5e-5 are discoveries among 1100 tests, but not among 2000."""
    p = np.concatenate([[5e-5] * 3, np.linspace(0.1, 1, 1997)])
    assert (adjust_pvalues(p) <= 0.2).sum() == 0
    assert (adjust_pvalues(p[:1100]) <= 0.2).sum() == 3


def test_nan_stays_and_does_not_disturb():
    p = np.array([0.01, np.nan, 0.2, 0.03, np.nan])
    for method in WITHOUT_PRIOR:
        adjusted = adjust_pvalues(p, method)
        assert np.isnan(adjusted[[1, 4]]).all()
        np.testing.assert_allclose(adjusted[[0, 2, 3]], adjust_pvalues(p[[0, 2, 3]], method))


def test_the_size_of_the_family_is_explicit():
    p = [0.01, np.nan, 0.2]
    np.testing.assert_allclose(adjust_pvalues(p, "bonferroni", n_hypotheses=3), [0.03, np.nan, 0.6])
    padded = adjust_pvalues([0.01, 0.2, *[1] * 8], "bh")
    np.testing.assert_allclose(adjust_pvalues(p, "bh", n_hypotheses=10), [padded[0], np.nan, padded[1]])
    by = adjust_pvalues([0.01, 0.2, *[1] * 8], "by")
    np.testing.assert_allclose(adjust_pvalues(p, "by", n_hypotheses=10), [by[0], np.nan, by[1]])
    holm = adjust_pvalues([0.01, 0.2, *[1] * 8], "holm")
    np.testing.assert_allclose(adjust_pvalues(p, "holm", n_hypotheses=10), [holm[0], np.nan, holm[1]])
    assert adjust_pvalues([1e-20], "by", n_hypotheses=10**10)[0] == pytest.approx(1e-10 * 23.603, rel=1e-3)
    with pytest.raises(ValueError, match="`n_hypotheses` must be at least the 2"):
        adjust_pvalues(p, n_hypotheses=1)


def test_empty_and_all_nan():
    assert adjust_pvalues([]).shape == (0,)
    assert np.isnan(adjust_pvalues([np.nan, np.nan])).all()


@pytest.mark.parametrize(("p", "method", "sentence"), [
    ([0.5, 1.5], "by", "`p` must lie between 0 and 1"),
    ([-0.1], "by", "`p` must lie between 0 and 1"),
    ([[0.5]], "by", "`p` must be a vector"),
    (["0.5"], "by", "`p` must hold real numbers"),
    ([0.5], "sidak", f"`method` must be one of {', '.join(map(repr, CORRECTIONS))}"),
])  # fmt: skip
def test_bad_input(p, method, sentence):
    with pytest.raises(ValueError, match=sentence):
        adjust_pvalues(p, method)


@pytest.mark.parametrize(("n_tests", "n_found"), [(1, 1), (7, 3), (2000, 1), (2000, 545), (2000, 2000)])
def test_the_level_is_that_of_the_formulas(n_tests, n_found):
    total = sum(1 / k for k in range(1, n_tests + 1))
    assert 1 - selected_confidence("by", 0.2, n_tests, n_found) == pytest.approx(0.2 * n_found / (n_tests * total))
    assert 1 - selected_confidence("bh", 0.2, n_tests, n_found) == pytest.approx(0.2 * n_found / n_tests)
    closed, by = (selected_confidence(correction, 0.2, n_tests, n_found) for correction in ("closed-by", "by"))
    assert closed == by
    for correction in ("holm", "bonferroni"):
        assert 1 - selected_confidence(correction, 0.2, n_tests, n_found) == pytest.approx(0.2 / n_tests)
    assert harmonic(n_tests) == pytest.approx(total)


@pytest.mark.parametrize("correction", ["by", "bh", "bonferroni"])
def test_what_is_left_out_is_the_threshold_of_the_correction(correction):
    """A finding that just passed has an interval, at its level, that ends just at zero."""
    p = np.random.default_rng(0).random(300) ** 4
    found = adjust_pvalues(p, correction) <= 0.2
    limit = 1 - selected_confidence(correction, 0.2, 300, int(found.sum()))
    assert 0 < found.sum() < 300
    assert p[found].max() <= limit * (1 + 1e-9)
    assert p[~found].min() > limit


@pytest.mark.parametrize("correction", WITHOUT_PRIOR)
def test_the_threshold_parts_findings_from_the_rest(correction):
    rng = np.random.default_rng(2)
    for strength in (0.0, 0.5, 2.0, 6.0):
        for m in (1, 7, 200):
            p = 10.0 ** (-strength * rng.random(m)) * rng.random(m)
            found = adjust_pvalues(p, correction) <= 0.2
            limit = threshold(correction, 0.2, m, int(found.sum()), largest=p[found].max(initial=0.0))
            if found.any():
                np.testing.assert_array_equal(p <= limit * (1 + 1e-12), found)
            else:
                assert p.min() > limit
            assert (np.diff(critical_values(correction, 0.2, m)) >= 0).all()


def test_the_threshold_of_closed_by_is_that_of_by_or_the_last_finding():
    assert threshold("closed-by", 0.2, 100, 7, largest=0.001) == threshold("by", 0.2, 100, 7, largest=0.5) > 0.001
    assert threshold("closed-by", 0.2, 100, 7, largest=0.01) == 0.01


def test_the_line_of_a_prior_is_of_its_shape():
    shape = Shape(40, np.array([10]), np.array([0.5]), 0.5)
    line = critical_values("prior", 0.2, 40, shape=shape)
    np.testing.assert_allclose(line, 0.2 * shape.beta(np.arange(1, 41)) / 40)
    assert threshold("prior", 0.2, 40, 12, shape=shape) == line[11]
    assert threshold("prior", 0.2, 40, 0, shape=shape) == line[0]
    assert 1 - selected_confidence("prior", 0.2, 40, 12, shape=shape) == pytest.approx(line[11])
    for call in (critical_values, threshold, selected_confidence):
        arguments = (0.2, 40) if call is critical_values else (0.2, 40, 3)
        with pytest.raises(ValueError, match="must be given for the correction 'prior'"):
            call("prior", *arguments)
        with pytest.raises(ValueError, match="is not for the correction 'by'"):
            call("by", *arguments, shape=shape)
        with pytest.raises(ValueError, match="`correction` must be one of"):
            call("none", *arguments)


@pytest.mark.parametrize(("name", "theirs"), [("bh", "fdr_bh"), ("by", "fdr_by"), ("bonferroni", "bonferroni")])
@pytest.mark.parametrize("n", [1, 2, 500, 20_000])
def test_the_same_bits_as_statsmodels(name, theirs, n):
    p = np.round(np.random.default_rng(n).random(n) ** 3, 4)  # With ties and zeros.
    np.testing.assert_array_equal(adjust_pvalues(p, name), multipletests(p, method=theirs)[1])
