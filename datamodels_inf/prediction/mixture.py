"""How large effects are: a scale mixture of normals, fitted to z-scores by EM (adaptive shrinkage, Stephens 2017).

A true effect in units of its standard error is Σ_s π_s N(0, s²), so that its z-score is Σ_s π_s N(0, 1 + s²).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from datamodels_inf.internal.checks import Floats, Ints

SMALLEST_SCALE = 0.25
"""Effects of a quarter of a standard error cannot be told from none."""
STEPS = 4000
PRECISION = 1e-9
"""EM ends when a step raises the mean log-likelihood by less."""


@dataclass(frozen=True, eq=False)
class ScaleMixture:
    """Effects ~ Σ_s π_s N(0, s²): `scale` s, increasing from 0, and `share` π_s."""

    scale: Floats
    share: Floats

    @classmethod
    def fit(cls, z: Floats, count: Ints) -> ScaleMixture:
        """Maximum likelihood by EM from equal shares, of `count` z-scores of each of the sizes z."""
        largest = max(float(np.abs(z).max(initial=0.0)), 2.0 * SMALLEST_SCALE)
        octaves = int(np.ceil(2.0 * np.log2(largest / SMALLEST_SCALE)))
        scale = np.concatenate([[0.0], SMALLEST_SCALE * np.sqrt(2.0) ** np.arange(octaves + 1)])
        log = _log_density(z, scale)
        top = log.max(axis=1, keepdims=True)
        likelihood, weight = np.exp(log - top), count / count.sum()
        share, before = np.full(len(scale), 1.0 / len(scale)), -np.inf
        for _ in range(STEPS):
            density = likelihood @ share
            now = float(weight @ np.log(density))
            if now - before < PRECISION:
                break
            share, before = share * ((weight / density) @ likelihood), now
        return cls(scale, share / share.sum())

    def posterior(self, z: Floats) -> Floats:
        """(len(z), S): P(s | z) ∝ π_s·N(z; 0, 1 + s²)."""
        with np.errstate(divide="ignore"):
            log = _log_density(z, self.scale) + np.log(self.share)
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _log_density(z: Floats, scale: Floats) -> Floats:
    """(len(z), S): log N(z; 0, 1 + s²) up to a constant."""
    variance = 1.0 + scale**2
    return np.asarray(-0.5 * (z[:, None] ** 2 / variance + np.log(variance)))
