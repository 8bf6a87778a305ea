"""Findings among p-values that come in chunks, against p-values adjusted together."""

import numpy as np
import pytest

import datamodels_inf.closed_by as closed
import datamodels_inf.many_pvalues as many
from datamodels_inf import adjust_pvalues
from datamodels_inf.many_pvalues import find_among_many, largest_critical
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape

LAWS = {
    "nothing": lambda rng, m: rng.random(m),
    "some": lambda rng, m: np.where(rng.random(m) < 0.1, rng.random(m) ** 20, rng.random(m)),
    "most": lambda rng, m: rng.random(m) ** 8,
    "ties": lambda rng, m: np.round(rng.random(m) ** 4, 2),
    "tiny": lambda rng, m: 10.0 ** -rng.uniform(0, 320, m),
    "all": lambda rng, m: np.full(m, 1e-9),
    "ones": lambda rng, m: np.ones(m),
}


def prior_of(correction, rng, m):
    """None, or weights and a shape with some mass beside Benjamini–Yekutieli's."""
    if not CORRECTIONS[correction].needs_prior:
        return None
    weight = rng.integers(0, 4, m) + 1e-3
    return Prior(weight * m / weight.sum(), Shape(m, np.array([max(1, m // 9)]), np.array([0.7]), 0.3))


def not_exactly(monkeypatch):
    """Closed Benjamini–Yekutieli by its bound."""
    monkeypatch.setattr(closed, "EXACT_FAMILY", 0)
    monkeypatch.setattr(many, "EXACT_FAMILY", 0)


@pytest.mark.parametrize("gathered", (2**24, 5))
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_equal_to_adjusting_all_together(correction, law, gathered, monkeypatch):
    """With few p-values in memory at a time too: bins are then divided again and again."""
    monkeypatch.setattr(many, "GATHERED", gathered)
    monkeypatch.setattr(many, "BINS", 64)
    rng = np.random.default_rng(0)
    for m in (1, 2, 17, 400):
        for alpha in (0.01, 0.2):
            p = LAWS[law](rng, m)
            prior = prior_of(correction, rng, m)
            shape, scaled = (None, p) if prior is None else (prior.shape, prior.scaled(p))
            expected = adjust_pvalues(p, correction, alpha=alpha, prior=prior) <= alpha
            found = find_among_many(
                lambda q=scaled: np.array_split(q, 7), m, correction=correction, alpha=alpha, shape=shape
            )
            assert found.m == m and found.found == expected.sum()
            assert np.array_equal(scaled <= found.limit, expected)


@pytest.mark.parametrize("law", LAWS)
def test_the_bound_of_closed_by_is_the_same_in_chunks(law, monkeypatch):
    not_exactly(monkeypatch)
    rng = np.random.default_rng(3)
    for m in (1, 17, 400):
        for alpha in (0.01, 0.2):
            p = LAWS[law](rng, m)
            expected = adjust_pvalues(p, "closed-by", alpha=alpha) <= alpha
            found = find_among_many(lambda p=p: np.array_split(p, 7), m, correction="closed-by", alpha=alpha)
            assert np.array_equal(p <= found.limit, expected) and found.found == expected.sum()


@pytest.mark.parametrize("exactly", (True, False))
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_large_pvalues_may_be_left_out(correction, exactly, monkeypatch):
    if not exactly:
        not_exactly(monkeypatch)
    rng = np.random.default_rng(1)
    p = LAWS["some"](rng, 5000)
    prior = prior_of(correction, rng, 5000)
    shape, p = (None, p) if prior is None else (prior.shape, prior.scaled(p))
    small = p[p <= largest_critical(correction, 0.1, len(p), shape=shape)]
    whole, part = (
        find_among_many(lambda q=q: [q], len(p), correction=correction, alpha=0.1, shape=shape) for q in (p, small)
    )
    assert whole == part and whole.found > 0


def test_true_bins_and_a_million():
    rng = np.random.default_rng(2)
    p = LAWS["some"](rng, 1_000_000)
    found = find_among_many(lambda: np.array_split(p, 50), len(p), alpha=0.2)
    assert found.found == np.count_nonzero(adjust_pvalues(p, "by") <= 0.2) > 1000
    closed = find_among_many(lambda: np.array_split(p, 50), len(p), correction="closed-by", alpha=0.2)
    assert closed.found >= found.found and closed.limit == p[p <= closed.limit].max()


def test_nothing_at_all():
    found = find_among_many(lambda: [], 10, alpha=0.2)
    assert (found.limit, found.found) == (-1.0, 0)
    for m in (10, 10**8):
        assert find_among_many(lambda: [], m, correction="closed-by", alpha=0.2).found == 0
    with pytest.raises(ValueError, match="`m`"):
        find_among_many(lambda: [], 0, alpha=0.2)
