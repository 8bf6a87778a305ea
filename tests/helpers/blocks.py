"""Blocks of rows, each tested with weights of its own, and the plain way to combine them."""

import itertools

import numpy as np

from datamodels_inf import PackedMasks
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.methods import METHODS, PairTests
from datamodels_inf.targets import prepare_targets


def block_target(masks, y, theta, bias=0.0):
    """The target on one block."""
    weights = Datamodel(np.asarray(theta, np.float64)[:, None], np.array([bias]), np.array([np.nan]))
    return next(prepare_targets(PackedMasks.from_bool(masks), np.asarray(y, np.float64)[:, None], weights))


def progressive_tests(masks, y, ends, fit, pairs, **options):
    """`PairTests` of rows ends[k]…ends[k+1], each with the θ̂ that `fit(masks, y)` makes of the rows before it."""
    bounds = [*ends, len(y)]
    blocks = [block_target(masks[a:b], y[a:b], fit(masks[:a], y[:a])) for a, b in itertools.pairwise(bounds)]
    return PairTests(blocks, np.asarray(pairs, np.int64).reshape(len(pairs), 2, -1), **options)


def pvalues(tests, method):
    """Of all pairs."""
    return METHODS[method].test(tests).pvalue


def exact_law(counts, scales):
    """(values, probabilities) of Σ_k c_k·V_k, V_k the signed-rank sum of counts[k] values without ties."""
    values, chances = np.zeros(1), np.ones(1)
    for n, scale in zip(counts, scales, strict=True):
        law = np.ones(1)
        for rank in range(1, n + 1):
            moved = np.zeros(law.size + rank)
            moved[: law.size] += 0.5 * law
            moved[rank:] += 0.5 * law
            law = moved
        own = scale * (2.0 * np.arange(law.size) - n * (n + 1) / 2.0)
        values, chances = (values[:, None] + own).ravel(), (chances[:, None] * law).ravel()
        order = np.argsort(values, kind="stable")
        values, chances = values[order], chances[order]
        new = np.concatenate([[True], np.diff(values) > 1e-12])
        values, chances = values[new], np.bincount(np.cumsum(new) - 1, chances)
    return values, chances
