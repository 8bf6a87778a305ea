"""Networks: gradients against finite differences."""

from __future__ import annotations

import pytest
import torch

from datamodels_inf.training import NETWORKS


@pytest.mark.parametrize("architecture", NETWORKS)
def test_gradient_agrees_with_finite_differences(architecture: str) -> None:
    """In double precision, with unequal shares, which training itself never uses."""
    rng = torch.Generator().manual_seed(0)
    block = 1 if NETWORKS[architecture].alone else 2
    network = NETWORKS[architecture].build((4, 4, 1), 3, 3)
    weights = [torch.randn(block, *s, generator=rng, dtype=torch.float64) for s in network.shapes]
    x = torch.randn(block, 6, *((4, 4, 1) if block == 1 else (16,)), generator=rng, dtype=torch.float64)
    y = torch.eye(3, dtype=torch.float64)[torch.randint(3, (block, 6), generator=rng)].mT
    share = torch.rand(block, 1, 6, generator=rng, dtype=torch.float64)

    def loss() -> torch.Tensor:
        logits = torch.cat([network.logits([w[k : k + 1] for w in weights], x[k]) for k in range(block)])
        return -(logits.log_softmax(1) * y * share).sum()

    out = [torch.empty_like(weight) for weight in weights]
    network.gradient(weights, out, x, y, share)
    for weight, gradient in zip(weights, out, strict=True):
        for position in (0, weight.numel() // 2, weight.numel() - 1):
            flat = weight.view(-1)
            flat[position] += 1e-6
            above = loss()
            flat[position] -= 2e-6
            below = loss()
            flat[position] += 1e-6
            assert gradient.view(-1)[position].item() == pytest.approx((above - below).item() / 2e-6, abs=1e-6)
