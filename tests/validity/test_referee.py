"""The referee keeps its promise: of what it calls confirmed or reversed, at most a share α is wrong, whatever the
scores are, as long as they have not seen the tested models; and with scores that have, it does not."""

import numpy as np
import pytest
from long_runs import times

from datamodels_inf import referee
from datamodels_inf.training.draws import draw_masks

D, T, N, REPEATS, ALPHA = 30, 2, 120, times(300, 1000), 0.2
SURPLUS = 3.0 * np.sqrt(ALPHA * (1 - ALPHA) / REPEATS)
"""Three standard errors of a share at the level."""


def masks_of(rng, law):
    if law == "fixed-size":
        return draw_masks(D, 0, N, seed=int(rng.integers(2**31)))
    return rng.random((N, D)) < 0.4


def found(result):
    return np.stack([ruling.verdict for ruling in result.rulings], axis=1)


def any_found(scores_of, *, seed, law="bernoulli", correction="bh", useless=1.0):
    """How often anything at all is confirmed or reversed where no image differs from another."""
    rng = np.random.default_rng(seed)
    count = 0
    for repeat in range(REPEATS):
        masks = masks_of(rng, law)
        noise = rng.standard_t(3, (N, T)) * (1.0 + 0.5 * (masks.sum(axis=1) > D / 2))[:, None]
        outcomes = 0.7 * masks.sum(axis=1)[:, None] + noise
        scores = scores_of(rng, masks, outcomes)
        theta = 0.7 + useless * rng.standard_normal((D, T))  # A bad one costs power alone.
        result = referee(masks, outcomes, {"one": scores}, theta=theta, bias=np.zeros(T), k=3, alpha=ALPHA,
                         allow_unexchangeable=True,  # Of thousands of good draws some look odd.
                         correction=correction, seed=repeat)  # fmt: skip
        count += bool(found(result).any())
    return count / REPEATS


def at_random(rng, masks, outcomes):
    return rng.standard_normal((D, T))


def leaked(rng, masks, outcomes):
    """Scores made from the very models that are tested."""
    return (masks - masks.mean(axis=0)).T @ (outcomes - outcomes.mean(axis=0))


@pytest.mark.parametrize("law", ("fixed-size", "bernoulli"))
@pytest.mark.parametrize("correction", ("by", "bh", "holm"))
def test_where_all_images_are_alike_hardly_ever_anything_is_found(law, correction):
    assert any_found(at_random, seed=1, law=law, correction=correction) <= ALPHA + SURPLUS


def test_the_level_is_used_and_not_only_kept():
    """Or the test above could not fail."""
    assert any_found(at_random, seed=2, correction="bh") > ALPHA / 4


def test_scores_that_have_seen_the_tested_models_break_the_promise():
    """The leak that no file shows, and the same without it."""
    assert any_found(leaked, seed=3, useless=0.0) > 2 * ALPHA
    assert any_found(at_random, seed=3, useless=0.0) <= ALPHA + SURPLUS


@pytest.mark.parametrize("kind", ("random", "right", "turned"))
def test_the_share_of_false_verdicts_is_at_most_alpha(kind):
    """Half of the images have no effect; a verdict is false on a pair of these, or in the wrong direction."""
    rng = np.random.default_rng(4)
    shares, decided = [], 0
    for repeat in range(REPEATS):
        truth = np.where(np.arange(D)[:, None] < D // 2, 0.0, 0.5 * rng.standard_normal((D, T)))
        masks = masks_of(rng, "bernoulli")
        outcomes = masks @ truth + rng.standard_normal((N, T))
        scores = {"random": rng.standard_normal((D, T)), "right": truth + 0.3 * rng.standard_normal((D, T)),
                  "turned": -truth + 0.3 * rng.standard_normal((D, T))}[kind]  # fmt: skip
        result = referee(masks, outcomes, {"one": scores}, theta=truth, bias=np.zeros(T), k=5, alpha=ALPHA,
                         allow_unexchangeable=True,
                         correction="bh", seed=repeat)  # fmt: skip
        verdict = found(result)[:, 0]
        sides = truth[result.pairs, result.target[:, None]]
        truly = np.sign(sides[:, 0] - sides[:, 1])
        false = (verdict != 0) & (verdict * result.claim[:, 0] != truly)
        shares.append(false.sum() / max(1, (verdict != 0).sum()))
        decided += int((verdict != 0).sum())
    assert decided > 3 * REPEATS
    assert np.mean(shares) <= ALPHA + 3.0 * np.std(shares) / np.sqrt(REPEATS)


def test_a_right_method_is_confirmed_the_more_the_more_models_there_are():
    rng = np.random.default_rng(6)
    truth = rng.standard_normal((D, T))
    shares = []
    for n in (60, 250, 1000):
        masks = rng.random((n, D)) < 0.5
        outcomes = masks @ truth + 2.0 * rng.standard_normal((n, T))
        result = referee(masks, outcomes, {"one": truth}, theta=truth, bias=np.zeros(T), allow_unexchangeable=True)
        counts = result.counts()["one"]
        assert counts["reversed"] == 0
        shares.append(counts["confirmed"] / sum(counts.values()))
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.8
