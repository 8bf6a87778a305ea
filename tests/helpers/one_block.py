"""Targets on held-out rows that are one block, as `HeldOut` and `PairTests` take them."""

from datamodels_inf.targets import prepare_targets


def blocks_of(masks, margins, datamodel):
    """Of each target its only block."""
    return ((target,) for target in prepare_targets(masks, margins, datamodel))
