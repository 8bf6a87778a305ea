"""Rows to fit and to test: the rule, its limits at small N, and that it is near the best on learning curves."""

from itertools import product

import numpy as np
import pytest

from datamodels_inf.row_blocks import LEAST, MOST_BLOCKS, block_ends, divide_rows, first_rows, held_out_split

SIZES = tuple(product((40, 41, 60, 61, 100, 200, 333, 1000, 5000, 12_000, 310_000), (2, 50, 400, 50_000)))


def information(ends, n_models, d, signal):
    """(Σ n_k/σ_k)²/Σ n_k where σ²(n) = 1 − R² + R²·d/(d + n), a curve that no rule was chosen on."""
    rows = np.diff((*ends, n_models))
    sigma = np.sqrt(1.0 - signal + signal * d / (d + np.array(ends)))
    return (rows / sigma).sum() ** 2 / rows.sum()


@pytest.mark.parametrize(
    ("n_models", "d", "held_out", "ends"),
    (
        (12_000, 400, 1549, (240, 742, 1521, 2577, 3909, 5517, 7401, 9562)),
        (310_000, 50_000, 77_500, (6200, 19_181, 39_303, 66_566, 100_970, 142_516, 191_203, 247_031)),
        (200, 200, 50, (20, 41, 70, 106, 149)),
        (60, 400, 20, (20,)),
        (40, 400, 20, (20,)),
    ),
)
def test_the_rule(n_models, d, held_out, ends):
    assert held_out_split(n_models, d) == held_out
    assert block_ends(n_models, first_rows(n_models, d)) == ends


@pytest.mark.parametrize(("n_models", "ends"), ((12_000, (6000, 7771, 9771)), (60, (30,)), (40, (20,))))
def test_a_fit_that_chooses_the_pairs_has_half_of_the_rows(n_models, ends):
    assert held_out_split(n_models, 400, chosen_by_fit=True) == n_models // 2
    assert block_ends(n_models, first_rows(n_models, 400, chosen_by_fit=True)) == ends


@pytest.mark.parametrize("chosen_by_fit", (False, True))
@pytest.mark.parametrize(("n_models", "d"), SIZES)
def test_every_block_has_enough_rows_at_any_size(n_models, d, chosen_by_fit):
    assert LEAST <= held_out_split(n_models, d, chosen_by_fit=chosen_by_fit) <= n_models - LEAST
    first = first_rows(n_models, d, chosen_by_fit=chosen_by_fit)
    ends = block_ends(n_models, first)
    assert ends[0] == first >= LEAST
    assert np.diff((*ends, n_models)).min() >= LEAST
    assert 1 <= len(ends) <= MOST_BLOCKS
    assert all(type(end) is int for end in ends)


@pytest.mark.parametrize("blocks", (1, 2, 5, 40))
def test_blocks_that_are_asked_for_have_equally_spaced_roots(blocks):
    ends = block_ends(100_000, 900, blocks)
    assert len(ends) == blocks
    steps = np.diff(np.sqrt((*ends, 100_000)))
    np.testing.assert_allclose(steps, (np.sqrt(100_000) - 30) / blocks, atol=1 / 30)  # Rounding moves √e by ½/(2√e).


def test_a_single_block_may_be_small():
    assert block_ends(10, 9, 1) == block_ends(10, 9) == (9,)


@pytest.mark.parametrize(
    ("first", "blocks"), ((2, 8), (240, 8), (1200, 7), (3000, 5), (6000, 3), (8000, 2), (11_000, 1))
)
def test_a_longer_start_leaves_fewer_blocks(first, blocks):
    """⌈9·(1 − √(e_1/N))⌉."""
    assert len(block_ends(12_000, first)) == blocks


def test_numbers_of_numpy_are_numbers():
    assert block_ends(np.int64(12_000), np.int64(240), np.int32(3)) == block_ends(12_000, 240, 3)
    assert held_out_split(np.int64(12_000), np.int64(400)) == 1549


@pytest.mark.parametrize("ratio", (3, 6, 12, 30, 60))
def test_little_is_lost_against_the_best_on_smooth_learning_curves(ratio):
    """Mean over R² of the share of information lost: to the best held-out share, and to 16 blocks from 20 rows on."""
    d = 400
    n_models, lost = ratio * d, []
    for signal in (0.1, 0.3, 0.6, 0.9):
        best = max(information((rows,), n_models, d, signal) for rows in range(LEAST, n_models - LEAST, 10))
        many = information(block_ends(n_models, LEAST, 16), n_models, d, signal)
        one = information((held_out_split(n_models, d),), n_models, d, signal)
        several = information(block_ends(n_models, first_rows(n_models, d)), n_models, d, signal)
        lost.append((1 - one / best, 1 - several / many))
        assert several > one
    assert np.mean(lost, axis=0)[0] <= 0.1
    assert np.mean(lost, axis=0)[1] <= 0.05


@pytest.mark.parametrize("of", (held_out_split, first_rows))
def test_sizes_that_make_no_sense_are_refused(of):
    with pytest.raises(ValueError, match="`n_models` must be a whole number of at least 40, but it is 39"):
        of(39, 400)
    with pytest.raises(ValueError, match="`n_train` must be a whole number of at least 2, but it is 1"):
        of(1000, 1)
    with pytest.raises(ValueError, match=r"`n_models` must be a whole number of at least 40, but it is 1000\.0"):
        of(1000.0, 400)


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        ((1, 1), "`n_models` must be a whole number of at least 2, but it is 1"),
        ((1000, 0), "`first_rows` must be a whole number of at least 1, but it is 0"),
        ((1000, 1000), "`first_rows` must be less than `n_models` = 1000, but it is 1000"),
        ((1000, 20, 0), "`blocks` must be a whole number of at least 1, but it is 0"),
        ((1000, 20, True), "`blocks` must be a whole number of at least 1, but it is True"),
        ((1000, 990, 11), "`blocks` must be at most 1, so that each has 20 rows, but it is 11"),
    ),
)
def test_blocks_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        block_ends(*arguments)


@pytest.mark.parametrize(
    ("fit", "tested", "both"),
    ((60, 40, (60, 40)), (60, None, (60, 40)), (None, 40, (60, 40)), (99, None, (99, 3)), (None, 100, (1, 100)),
     (90, 90, (90, 90)), (None, None, (22, 78))),
)  # fmt: skip
def test_rows_that_are_not_given_are_what_the_others_leave(fit, tested, both):
    """What is given stays as it is, also where there are not so many rows."""
    assert divide_rows(100, 10, fit, tested) == both


def test_the_rule_divides_only_where_nothing_is_given():
    assert divide_rows(100, 10, None, None, chosen_by_fit=True) == (50, 50)
    assert divide_rows(100, 10, None, 40, chosen_by_fit=True) == (60, 40)
