"""The swap tests against the naive reference, on every path, and their behaviour at the edges."""

from functools import partial

import numpy as np
import pytest
from naive import naive_exact_pvalue, naive_paired_counts, naive_swap_counts
from scipy.stats import binom, binomtest, wilcoxon

import datamodels_inf as di
from datamodels_inf import (
    AbsoluteResidual,
    SignedMargin,
    SquaredResidual,
    paired_swap_test,
    paired_swap_test_many,
    swap_test,
    swap_test_many,
)
from datamodels_inf.internal.comparison import Comparison, Sample, halves

SCORES = {
    "squared": lambda theta: SquaredResidual(theta, 0.25),
    "absolute": lambda theta: AbsoluteResidual(theta, -0.5),
    "margin": SignedMargin,
}


def data(kind, seed, n=61, d=12):
    """Features of one kind, and responses and θ coarse enough that there are many ties."""
    rng = np.random.default_rng(seed)
    if kind == "gaussian":
        x, theta = rng.standard_normal((n, d)), rng.standard_normal(d)
        return x, x @ theta + rng.standard_normal(n), theta
    x = rng.random((n, d)) < 0.5
    theta = rng.integers(-2, 3, d) / 4.0
    y = x @ theta + rng.integers(-2, 3, n) / 4.0
    return {"bool": x, "int": x.astype(np.int8), "float": x.astype(np.float32)}[kind], y, theta


PAIRS = {"single": (3, 7), "group": ([0, 5, 2], [9, 1, 4])}


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


@pytest.mark.parametrize("kind", ("gaussian", "bool"))
def test_scores_are_their_formulas(kind):
    """Against the formulas written out, with a bias and responses of both signs; plain callables agree."""
    x, y, theta = data(kind, 11, n=400)
    assert (y < 0).any()
    formulas = {
        SquaredResidual(theta, 0.7): lambda x, y: (y - 0.7 - x @ theta) ** 2,
        AbsoluteResidual(theta, 0.7): lambda x, y: np.abs(y - 0.7 - x @ theta),
        SignedMargin(theta): lambda x, y: y * (x @ theta),
    }
    for score, formula in formulas.items():
        np.testing.assert_allclose(score(x, y), formula(x, y), rtol=1e-9, atol=1e-12)
        for test in (swap_test, paired_swap_test):
            assert test(x, y, 3, 7, score=score) == test(x, y, 3, 7, score=formula)


@pytest.mark.parametrize("case", ("huge column without weight", "huge response", "columns of different units"))
def test_scales_do_not_turn_differences_into_ties(case):
    """The paths agree with a plain callable although rounding errors of one sample or column are huge."""
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal((500, 5)), np.array([1.0, 0.2, 0.5, -0.5, 0.0])
    if case == "huge column without weight":
        x[7, 4] = 1e14
    if case == "columns of different units":
        x[:, 2] *= 1e12
        theta[2] = 5e-13
    y = x @ theta + rng.standard_normal(500)
    if case == "huge response":
        y[3] = 1e14
    plain = paired_swap_test(x, y, 0, 1, score=lambda x, y: np.abs(y - x @ theta))
    fast = paired_swap_test(x, y, 0, 1, score=AbsoluteResidual(theta))
    many = paired_swap_test_many(x, y, [(0, 1)], score=AbsoluteResidual(theta))[0]
    assert fast == many
    assert abs(fast.statistic - plain.statistic) <= 1 / 500
    assert fast.n_ties <= 1


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


def test_paired_pvalue_with_tau_and_ties_by_hand():
    """30 wins, 10 losses, 20 ties of 60: coins decide the ties, then Bin(60, ½ + τ/2)."""
    from datamodels_inf.internal.coins import coin_keys, flip_coins

    signs = np.repeat([1.0, -1.0, 0.0], [30, 10, 20])
    x = np.column_stack([np.ones(60), np.zeros(60)])
    result = paired_swap_test(x, signs, 0, 1, score=lambda x, y: y * x[:, 0], tau=0.2, tau_x=0.0, rng=5)
    heads = int(flip_coins(coin_keys(np.array([[[0], [1]]]), 5), 60)[40:].sum())
    assert 0 < heads < 20
    assert result.statistic == (30 + heads) / 60
    assert result.pvalue == pytest.approx(naive_exact_pvalue(30 + heads, 60, 0.1), abs=0)


def test_reject_includes_the_level_itself():
    x, y, theta = data("gaussian", 1, n=80)
    one = swap_test(x, y, 0, 1, score=SquaredResidual(theta + 0.5), pvalue="exact")
    assert 0 < one.pvalue < 1
    assert one.reject(one.pvalue)
    assert not one.reject(one.pvalue * (1 - 1e-9))
    many = swap_test_many(x, y, [(0, 1)], score=SquaredResidual(theta + 0.5), pvalue="exact")
    assert many.reject(one.pvalue).all()


def test_pvalues_are_those_of_the_counts():
    x, y, _ = data("gaussian", 1, n=80)
    y = 30 * x[:, 0] + y
    score = SquaredResidual(np.eye(12)[0] * 30)
    wins, ties = naive_swap_counts(x, y, 0, 1, score)
    assert ties == 0
    u, n = wins / 40, 80
    assert abs(u - 0.5) > 0.2
    hoeffding = swap_test(x, y, 0, 1, score=score, tau=0.01, tau_x=0.02).pvalue
    assert hoeffding == pytest.approx(min(1, 2 * np.exp(-n * max(0, abs(u - 0.5) - 0.03) ** 2)))
    exact = swap_test(x, y, 0, 1, score=score, tau=0.01, tau_x=0.02, pvalue="exact").pvalue
    assert exact == pytest.approx(naive_exact_pvalue(wins, 40, 0.03))


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
    from datamodels_inf.internal.coins import coin_keys, flip_coins

    keys = coin_keys(np.arange(400).reshape(200, 2, 1), 0)
    coins = np.stack([flip_coins(keys[k : k + 1], 1000) for k in range(200)]) * 2.0 - 1
    for lag in (1, 2, 7):
        assert abs((coins[:, lag:] * coins[:, :-lag]).mean()) < 5 / np.sqrt(coins.size)
        assert abs((coins[lag:] * coins[:-lag]).mean()) < 5 / np.sqrt(coins.size)


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


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n", (2, 3, 64, 127, 128, 129, 640, 1001))
def test_columns_of_bits_and_columns_of_numbers_count_alike(n, score):
    """Masks as bits, and the same masks as numbers, which take the other kernel; θ̂_i = θ̂_j for some pairs."""
    x, y, theta = data("bool", n, n=n)
    y = y + np.where(np.arange(n) % 3 == 0, 0.1, 0.0)
    singles = np.array([(a, b) for a in range(12) for b in range(a)])
    groups = np.array([[[0, 5], [9, 1]], [[3, 4], [2, 11]]])
    equal = theta[singles[:, 0]] == theta[singles[:, 1]]
    assert equal.any() and not equal.all()
    for pairs in (singles, groups):
        for test in (swap_test_many, paired_swap_test_many):
            for seed in (0, 1):
                a, b, c = (
                    test(features, y, pairs, score=SCORES[score](theta), tau=0.02, rng=seed)
                    for features in (x, x.astype(float), di.PackedMasks.from_bool(x))
                )
                for name in ("statistic", "pvalue", "n_ties"):
                    np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
                    np.testing.assert_array_equal(getattr(a, name), getattr(c, name))


@pytest.mark.parametrize("paired", (False, True))
@pytest.mark.parametrize("score", SCORES)
def test_the_sweep_counts_what_a_pass_over_the_rows_counts(score, paired):
    """Hundreds of different θ̂_i − θ̂_j, with ties among the rows that move up, that move down and that stay."""
    rng = np.random.default_rng(11)
    n, d = 700, 300
    x = rng.random((n, d)) < 0.5
    theta = rng.integers(-8, 9, d) / 8.0 + np.where(np.arange(d) % 2, rng.integers(-4, 5, d) / 64, 0.0)
    y = rng.choice([-1.0, 1.0], n) if score == "margin" else x @ theta + rng.integers(-8, 9, n) / 8.0
    pairs = rng.choice(d, (5000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].reshape(-1, 2, 1)
    rows = None if paired else halves(n, "permuted", 3)
    bits, numbers = (
        Comparison(Sample.of(features, y), SCORES[score](theta), halves=rows) for features in (x, x.astype(float))
    )
    swept, passed = (comparison.count_many(pairs, 3, 1) for comparison in (bits, numbers))
    for name in ("wins", "ties", "coins"):
        np.testing.assert_array_equal(getattr(swept, name), getattr(passed, name))
    for p in range(0, len(pairs), 100):
        naive = numbers.count(pairs[p : p + 1], 3)
        assert (swept.wins[p], swept.ties[p], swept.coins[p]) == (naive.wins[0], naive.ties[0], naive.coins[0])
    assert np.unique(bits.score.coefficients(pairs)).size > 100 and len(set(swept.ties)) > 3


def test_sums_of_masks_do_not_depend_on_their_order():
    """θ sits on a grid on which sums over masks are exact: the reason why ties are ties on every path."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(3000) * 10.0 ** rng.integers(-6, 3, 3000)
    score = SquaredResidual(theta)
    x = rng.random((50, 3000)) < 0.5
    order = rng.permutation(3000)
    shuffled = SquaredResidual(theta[order])
    sums = score.prepared(x).predictor(x)
    np.testing.assert_array_equal(sums, shuffled.prepared(x).predictor(x[:, order]))
    assert (score.predictor(x) != shuffled.predictor(x[:, order])).any()  # Not so without the grid.
    assert np.abs(score.prepared(x).theta - theta).max() <= 2.0**-41 * np.abs(theta).sum()


def test_equal_weights_tie_exactly_even_for_real_features():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((300, 9)), rng.standard_normal(300)
    theta = rng.standard_normal(9)
    theta[4] = theta[2]
    result = paired_swap_test(x, y, 2, 4, score=SquaredResidual(theta))
    assert (result.n_ties, result.pvalue, result.statistic) == (300, 1.0, 0.5)


@pytest.mark.parametrize("size", PAIRS)
def test_packed_masks_give_the_same_results(size):
    x, y, theta = data("bool", 6, n=301)
    packed = di.PackedMasks.from_bool(x)
    i, j = PAIRS[size]
    pairs = np.array([[i, j]])
    for test, many in ((swap_test, swap_test_many), (paired_swap_test, paired_swap_test_many)):
        for score in (SquaredResidual(theta, 0.3), lambda x, y: (y - x @ theta) ** 2):
            assert test(packed, y, i, j, score=score, rng=2) == test(x, y, i, j, score=score, rng=2)
            assert many(packed, y, pairs, score=score, rng=2)[0] == test(x, y, i, j, score=score, rng=2)
    dense, bits = (di.contrast_many(z, y, pairs, theta=theta)[0] for z in (x, packed))
    assert dense == bits == di.contrast(x, y, i, j, theta=theta)


def test_results_are_structured():
    x, y, theta = data("bool", 0)
    many = swap_test_many(x, y, [(0, 1), (2, 3)], score=SquaredResidual(theta))
    assert len(many) == 2
    assert many.reject(0.999999).dtype == bool
    assert many[1] == swap_test(x, y, 2, 3, score=SquaredResidual(theta))
    assert isinstance(many[0], di.SwapTestResult)
    assert len(swap_test_many(x, y, np.empty((0, 2), int), score=SquaredResidual(theta))) == 0


def test_odd_sample_is_dropped():
    x, y, theta = data("gaussian", 3, n=101)
    score = SquaredResidual(theta)
    y[-1] = 1e9
    assert swap_test(x, y, 0, 1, score=score, order="given") == swap_test(
        x[:100], y[:100], 0, 1, score=score, order="given"
    )
    assert swap_test(x, y, 0, 1, score=score).n == 100


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


def test_rows_of_different_laws_keep_the_level_when_permuted():
    """The noise grows sixfold along the rows: the given order finds a difference that is none."""
    rejected = {"given": 0, "permuted": 0}
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        x = rng.random((100, 4)) < 0.5
        y = x[:, 0] * 1.0 + x[:, 1] + np.geomspace(1, 6, 100) * rng.standard_normal(100)
        for order in rejected:
            result = swap_test(x, y, 0, 1, score=SquaredResidual([1, 0, 0, 0]), pvalue="exact", order=order, rng=seed)
            rejected[order] += result.reject(0.05)
    assert rejected["permuted"] <= binom.ppf(1 - 1e-6, 2000, 0.05)
    assert rejected["given"] > 1000


X, Y, THETA = data("gaussian", 0)
GOOD = {"x": X, "y": Y, "i": 0, "j": 1, "score": SquaredResidual(THETA)}


def with_value(array, value):
    copy = array.copy()
    copy.flat[5] = value
    return copy


BAD = {
    "x one-dimensional": ({"x": Y}, r"`x` must be a two-dimensional"),
    "x text": ({"x": np.array([["a", "b"]])}, r"`x` must hold real numbers"),
    "x NaN": ({"x": with_value(X, np.nan)}, r"`x` must be finite"),
    "x infinite": ({"x": with_value(X, np.inf)}, r"`x` must be finite"),
    "y NaN": ({"y": with_value(Y, np.nan)}, r"`y` must be finite"),
    "y infinite": ({"y": with_value(Y, -np.inf)}, r"`y` must be finite"),
    "y too short": ({"y": Y[:-1]}, r"`y` must have shape \(61,\)"),
    "y a matrix": ({"y": Y[:, None]}, r"`y` must have shape"),
    "y complex": ({"y": Y * 1j}, r"`y` must hold real numbers"),
    "one row": ({"x": X[:1], "y": Y[:1]}, r"`x` must have at least 2 rows"),
    "i equals j": ({"j": 0}, r"`i` and `j` must differ"),
    "i too large": ({"i": 12}, r"`i` and `j` must be column numbers from 0 to 11"),
    "j negative": ({"j": -1}, r"`i` and `j` must be column numbers"),
    "i a float": ({"i": 0.5}, r"`i` must be an int"),
    "i empty": ({"i": [], "j": []}, r"`i` must be an int or a non-empty"),
    "unequal groups": ({"i": [0, 1], "j": [2]}, r"`i` and `j` must be of equal length"),
    "groups overlap": ({"i": [0, 1], "j": [2, 0]}, r"`i` and `j` must differ"),
    "group repeats": ({"i": [0, 0], "j": [2, 3]}, r"`i` and `j` must differ"),
    "tau negative": ({"tau": -0.1}, r"`tau` must be a finite number of at least 0"),
    "tau_x NaN": ({"tau_x": np.nan}, r"`tau_x` must be a finite number"),
    "pvalue unknown": ({"pvalue": "normal"}, r"`pvalue` must be one of .*'normal'"),
    "rng a string": ({"rng": "seed"}, r"`rng` must be None, a non-negative int"),
    "theta too short": ({"score": SquaredResidual(THETA[:-1])}, r"`theta` must have one entry per column"),
    "score too short": ({"score": lambda x, y: y[:-1]}, r"`score` must return shape"),
    "score a matrix": ({"score": lambda x, y: x}, r"`score` must return shape"),
    "score NaN": ({"score": lambda x, y: y * np.nan}, r"`score` must return finite"),
    "score overflows": ({"score": SquaredResidual(THETA * 1e200)}, r"`score` must return finite"),
    "score of the other half": (
        {"score": lambda x, y: y if x[0, 0] == X[0, 0] else y[:-1]},
        r"`score` must return shape",
    ),
    "score overflows as float64": (
        {"score": lambda x, y: np.full(len(y), np.longdouble("1e4000"))},
        r"`score` must return finite",
    ),
    "score None": ({"score": None}, r"`score` must be a callable"),
    "tau text": ({"tau": "0.1"}, r"`tau` must be a number"),
    "tau a list": ({"tau": [0.1]}, r"`tau` must be a number"),
    "x ragged": ({"x": [[1, 2], [3]]}, r"`x` must be an array of real numbers"),
    "score text": ({"score": lambda x, y: np.array(["a"] * len(y))}, r"`score` must return finite"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("test", (swap_test, paired_swap_test))
def test_bad_input_gets_one_sentence(test, case):
    change, sentence = BAD[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        test(**{**GOOD, "rng": 0, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("test", (swap_test_many, paired_swap_test_many))
@pytest.mark.parametrize("pairs", ([[0, 0]], [[0, 12]], [[0, 1, 2]], [0, 1], [[0.5, 1.0]], [[[0, 1], [1, 2]]]))
def test_bad_pairs_get_one_sentence(test, pairs):
    with pytest.raises(ValueError, match="`pairs` must"):
        test(X, Y, pairs, score=SquaredResidual(THETA))


@pytest.mark.parametrize("threads", (0, 1.5, "2", None))
def test_bad_threads(threads):
    with pytest.raises(ValueError, match="`threads` must be a whole number of at least 1"):
        swap_test_many(X, Y, [(0, 1)], score=SquaredResidual(THETA), threads=threads)


@pytest.mark.parametrize("alpha", (0.0, 1.0, -1, 2, np.nan, "0.1", None, [0.1]))
def test_bad_level(alpha):
    one = swap_test(**GOOD)
    with pytest.raises(ValueError, match="`alpha` must lie strictly between 0 and 1"):
        one.reject(alpha)
    with pytest.raises(ValueError, match="`alpha`"):
        swap_test_many(X, Y, [(0, 1)], score=SquaredResidual(THETA)).reject(alpha)


@pytest.mark.parametrize("options", ({"tau": 0.1}, {"tau_x": 0.1}))
def test_signed_rank_needs_tau_zero_and_says_why(options):
    with pytest.raises(ValueError, match="symmetric around 0"):
        paired_swap_test(**GOOD, pvalue="signed-rank", **options)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda: SquaredResidual([1.0, np.nan]), "`theta` must be finite"),
    (lambda: SquaredResidual([[1.0]]), "`theta` must be a vector"),
    (lambda: SignedMargin(["a"]), "`theta` must hold real numbers"),
    (lambda: SignedMargin([1j]), "`theta` must hold real numbers"),
    (lambda: AbsoluteResidual([1.0], "a"), "`bias` must be a number"),
    (lambda: AbsoluteResidual([1.0], np.inf), "`bias` must be a finite number"),
])  # fmt: skip
def test_bad_scores(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("run", (
    lambda x, y, s: swap_test(x, y, 0, 1, score=s, order="given").n_ties,
    lambda x, y, s: swap_test_many(x, y, [(0, 1)], score=s, order="given").n_ties[0],
))  # fmt: skip
def test_rounding_does_not_decide_ties(run):
    """Sample m + h is the swap of sample m, so every comparison is a tie, though some sums round differently.

    How they round depends on the order of the sum, and in BLAS on the layout of x: nothing that may decide a tie.
    """
    half = np.array(np.meshgrid(*[[0.3, 0.6, 0.7]] * 3)).reshape(3, -1).T
    x = np.concatenate([half, half[:, [1, 0, 2]]])
    score = SquaredResidual([2.4, 1.7, 2.9])
    assert run(x, np.zeros(54), score) == 27
    updated = score.predictor(x[27:]) + score.shift(x[27:], np.array([[0], [1]]))
    assert (updated != score.predictor(half)).any()
