"""How much of an effect each test sees: estimate and error on the fit rows, error and efficiency on the tested ones.

Normal residuals of sd σ, n rows of which a share q holds just one of two images, Δ the effect, δ = θ̂_i − θ̂_j. A
difference of means has non-centrality z = Δ·√(nq)/(2σ); locally,

    signed ranks:        √(3/π)·z
    signs (paired):      √(2/π)·z, whatever δ ≠ 0 is: D > 0 ⇔ sign(δ)·(2(x_i − x_j)ε + Δ) < 0
    unpaired:            4φ(0)·√q·(Φ(|δ|/(√2σ)) − ½)·z, since π − ½ is −q·2(Φ(|δ|/(√2σ)) − ½)(Φ(Δ/(√2σ)) − ½)

Of groups the contrast sees ΣΔ_k on the few masks with all of I and none of J; the others see Δ along δ, Σδ_kΔ_k/‖δ‖,
the paired one √(2/π) of it, since signs of sums carry less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.prediction.evidence import PairEvidence
from datamodels_inf.prediction.outlook import HOEFFDING, NORMAL, PvalueLaw
from datamodels_inf.prediction.weights_and_shape import evidence_cells


@dataclass(frozen=True)
class Sensitivity:
    """Of one method: law: how its p-value depends on z. seen: (estimate, error, test error, efficiency), each (P,)."""

    law: PvalueLaw
    seen: Callable[[PairEvidence], tuple[Floats, Floats, Floats, Floats]]

    def cells(self, pairs: PairEvidence) -> Ints:
        """The cells of `predict` of these tests."""
        return evidence_cells(*self.seen(pairs))


def _contrast(pairs: PairEvidence) -> tuple[Floats, Floats, Floats, Floats]:
    g = pairs.difference.shape[1]
    rarer = np.sqrt(pairs.q / pairs.q_all) if pairs.q_all > 0.0 else np.inf
    efficiency = np.full(len(pairs.error), np.sqrt(3.0 / np.pi))
    return pairs.difference.sum(axis=1), pairs.error * np.sqrt(g), pairs.test_error * rarer, efficiency


def _along_theta(
    pairs: PairEvidence, efficiency: Callable[[PairEvidence, Floats], Floats]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Of a test that sees x through xᵀθ̂ only: no efficiency where δ = 0."""
    length = np.linalg.norm(pairs.theta, axis=1)
    along = np.divide(pairs.theta, length[:, None], out=np.zeros_like(pairs.theta), where=length[:, None] > 0.0)
    share = np.where(length > 0.0, efficiency(pairs, length), 0.0)
    return (along * pairs.difference).sum(axis=1), pairs.error, pairs.test_error, share


def _signs(pairs: PairEvidence, length: Floats) -> Floats:
    return np.full(len(length), np.sqrt(2.0 / np.pi) if pairs.theta.shape[1] == 1 else 2.0 / np.pi)


def _unpaired(pairs: PairEvidence, length: Floats) -> Floats:
    ratio = np.divide(length, np.sqrt(2.0) * pairs.noise, out=np.zeros_like(length), where=pairs.noise > 0.0)
    return np.asarray(4.0 / np.sqrt(2.0 * np.pi) * np.sqrt(pairs.q) * (ndtr(ratio) - 0.5))


CONTRAST = Sensitivity(NORMAL, _contrast)
PAIRED = Sensitivity(NORMAL, lambda pairs: _along_theta(pairs, _signs))
SWAP_EXACT = Sensitivity(NORMAL, lambda pairs: _along_theta(pairs, _unpaired))
SWAP = Sensitivity(HOEFFDING, lambda pairs: _along_theta(pairs, _unpaired))
