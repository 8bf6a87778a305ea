"""Comparisons of scores: every path against the naive reference, whatever the threads and chunks."""

from functools import partial

import numpy as np
import pytest
from naive import naive_paired_counts, naive_swap_counts
from swap_samples import PAIRS, SCORES, data

from datamodels_inf import SquaredResidual, paired_swap_test, paired_swap_test_many, swap_test, swap_test_many
from datamodels_inf.internal.comparison import halves


@pytest.mark.parametrize("size", PAIRS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", ("gaussian", "bool", "int", "float"))
@pytest.mark.parametrize("seed", range(5))
def test_every_path_equals_the_naive_reference(kind, score, size, seed):
    x, y, theta = data(kind, seed)
    i, j = PAIRS[size]
    fast = SCORES[score](theta)
    pairs = np.array([[i, j]]) if size == "group" else np.array([[i, j], [1, 0], [11, 2]])

    for order in ("given", "permuted"):
        rows = np.concatenate(halves(61, order, 3))
        wins, ties = naive_swap_counts(x[rows], y[rows], i, j, fast)
        one = swap_test(x, y, i, j, score=fast, order=order, rng=3)
        assert (one.n, one.n_ties) == (60, ties)
        assert wins <= round(one.statistic * 30) <= wins + ties
        assert one == swap_test(x, y, i, j, score=lambda a, b: fast(a, b), order=order, rng=3)
        assert one == swap_test_many(x, y, pairs, score=fast, order=order, rng=3)[0]
        assert one == swap_test_many(x, y, pairs, score=lambda a, b: fast(a, b), order=order, rng=3)[0]

    wins, ties = naive_paired_counts(x, y, i, j, fast)
    one = paired_swap_test(x, y, i, j, score=fast, rng=3)
    assert (one.n, one.n_ties, one.statistic) == (61, ties, (wins + ties / 2) / 61)
    for options in ({}, {"tau": 0.1}, {"pvalue": "hoeffding", "tau_x": 0.1}, {"pvalue": "signed-rank"}):
        one = paired_swap_test(x, y, i, j, score=fast, rng=3, **options)
        assert one == paired_swap_test(x, y, i, j, score=lambda a, b: fast(a, b), rng=3, **options)
        assert one == paired_swap_test_many(x, y, pairs, score=fast, rng=3, **options)[0]
        assert one == paired_swap_test_many(x, y, pairs, score=lambda a, b: fast(a, b), rng=3, **options)[0]


def test_a_callable_that_changes_its_arguments_does_no_harm():
    x, y, theta = data("gaussian", 2, n=200)
    kept = x.copy(), y.copy()

    def greedy(x, y):
        y -= x @ theta
        x *= 0
        return np.abs(y)

    for test in (swap_test, paired_swap_test):
        assert test(x, y, 0, 1, score=greedy) == test(x, y, 0, 1, score=lambda x, y: np.abs(y - x @ theta))
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(y, kept[1])


@pytest.mark.parametrize("kind", ("bool", "int"))
@pytest.mark.parametrize("threads", (2, 3, 7))
def test_threads_change_nothing(threads, kind, monkeypatch):
    x, y, theta = data(kind, 5, n=200)
    pairs = np.array([(a, b) for a in range(12) for b in range(12) if a != b])
    monkeypatch.setattr("datamodels_inf.internal.comparison.PAIRS_AT_ONCE", 10)
    signed_rank = partial(paired_swap_test_many, pvalue="signed-rank")
    for test in (swap_test_many, paired_swap_test_many, signed_rank):
        a = test(x, y, pairs, score=SquaredResidual(theta), rng=8)
        b = test(x, y, pairs, score=SquaredResidual(theta), rng=8, threads=threads)
        np.testing.assert_array_equal(a.pvalue, b.pvalue)
        np.testing.assert_array_equal(a.statistic, b.statistic)


@pytest.mark.parametrize("chunk", (1, 5, 1000))
def test_chunks_and_the_order_of_the_pairs_change_nothing(chunk, monkeypatch):
    x, y, theta = data("bool", 5, n=200)
    pairs = np.array([(a, b) for a in range(12) for b in range(12) if a != b])
    order = np.random.default_rng(0).permutation(len(pairs))
    expected = [
        test(x, y, pairs, score=SquaredResidual(theta), tau=0.01, rng=8)
        for test in (swap_test_many, paired_swap_test_many)
    ]
    monkeypatch.setattr("datamodels_inf.internal.comparison.PAIRS_AT_ONCE", chunk)
    for test, before in zip((swap_test_many, paired_swap_test_many), expected, strict=True):
        after = test(x, y, pairs[order], score=SquaredResidual(theta), tau=0.01, rng=8, threads=3)
        for name in ("statistic", "pvalue", "n_ties"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name)[order])


def test_the_halves_share_no_row_and_depend_on_the_seed():
    for n in (60, 61):
        first, second = halves(n, "permuted", 0)
        assert len(first) == len(second) == len(np.unique([*first, *second])) // 2 == 30
        assert halves(n, "given", 5)[0].tolist() == list(range(30))
    assert halves(60, "permuted", 0)[0].tolist() == halves(60, "permuted", 0)[0].tolist()
    assert halves(60, "permuted", 0)[0].tolist() != halves(60, "permuted", 1)[0].tolist()
    x, y, theta = data("bool", 3, n=400)
    score = SquaredResidual(theta)
    assert len({swap_test(x, y, 0, 1, score=score, rng=seed).statistic for seed in range(8)}) > 1
    with pytest.raises(ValueError, match="`order` must be one of 'permuted', 'given'"):
        swap_test(x, y, 0, 1, score=score, order="sorted")
