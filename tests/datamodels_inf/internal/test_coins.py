"""Coins for ties: fair, seeded, and independent of each other."""

import numpy as np
import pytest

from datamodels_inf import SquaredResidual, swap_test, swap_test_many
from datamodels_inf.internal.coins import coin_keys, count_heads, flip_coins
from datamodels_inf.kernels.dense_swap import coin


def test_coins_are_fair_seeded_and_independent_of_other_pairs():
    """All ties: U is the share of heads."""
    n, d = 20_000, 30
    x, y = np.ones((n, d), bool), np.zeros(n)
    score = SquaredResidual(np.ones(d))
    pairs = np.array([(a, b) for a in range(d) for b in range(a)])
    many = swap_test_many(x, y, pairs, score=score, rng=1)
    assert (many.n_ties == n // 2).all()
    z = (many.statistic - 0.5) * 2 * np.sqrt(n / 2)
    assert abs(z.mean()) < 4 / np.sqrt(len(pairs))
    assert 0.8 < z.std() < 1.2
    assert many[7] == swap_test(x, y, *pairs[7], score=score, rng=1)
    assert many[7] == swap_test_many(x, y, pairs[5:9], score=score, rng=1)[2]
    assert many[7].statistic != swap_test(x, y, *pairs[7], score=score, rng=2).statistic
    from_generators = [swap_test(x, y, 0, 1, score=score, rng=np.random.default_rng(s)).statistic for s in (4, 4, 5)]
    assert from_generators[0] == from_generators[1] != from_generators[2]


def test_coins_of_neighbouring_samples_are_uncorrelated():
    keys = coin_keys(np.arange(400).reshape(200, 2, 1), 0)
    coins = np.stack([flip_coins(keys[k : k + 1], 1000) for k in range(200)]) * 2.0 - 1
    for lag in (1, 2, 7):
        assert abs((coins[:, lag:] * coins[:, :-lag]).mean()) < 5 / np.sqrt(coins.size)
        assert abs((coins[lag:] * coins[:-lag]).mean()) < 5 / np.sqrt(coins.size)


def test_the_compiled_coin_is_the_same_hash():
    for key in coin_keys(np.array([[[0], [1]], [[7], [3]], [[49_999], [2]]]), 11):
        coins = flip_coins(np.array([key]), 300)
        assert [coin(key, m) for m in range(300)] == coins.tolist()


def test_heads_are_counted_coin_by_coin():
    """Many pairs, each with its own number of coins: the law is binomial, and one coin more adds 0 or 1."""
    rng = np.random.default_rng(0)
    pairs = rng.permutation(40_000).reshape(20_000, 2, 1)
    for coins in (1, 63, 64, 65, 200):
        heads = count_heads(pairs, 7, np.full(len(pairs), coins))
        assert abs(heads.mean() - coins / 2) < 5 * np.sqrt(coins / 4 / len(pairs))
        assert heads.var() == pytest.approx(coins / 4, rel=0.06)
        more = count_heads(pairs, 7, np.full(len(pairs), coins + 1)) - heads
        assert set(more.tolist()) == {0, 1}
    mixed = count_heads(pairs[:3], 7, np.array([0, 5, 100]))
    alone = [count_heads(pairs[k : k + 1], 7, np.array([n]))[0] for k, n in enumerate((0, 5, 100))]
    assert mixed.tolist() == alone
    assert (count_heads(pairs, 8, np.full(len(pairs), 64)) != count_heads(pairs, 7, np.full(len(pairs), 64))).any()
