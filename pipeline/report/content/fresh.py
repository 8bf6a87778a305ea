"""Findings and other tests, held against models that were trained anew."""

from __future__ import annotations

from dataclasses import dataclass

from datamodels_inf.internal.checks import Floats
from datamodels_inf.replication import Replication


@dataclass(frozen=True, eq=False)
class Points:
    """Some tests: their effects by the set, and by the fresh models."""

    effect: Floats
    fresh: Floats


@dataclass(frozen=True, eq=False)
class FreshFamily:
    """The tests of a method, or the atlas: n_found of n_tests are findings. found, other: those that are drawn."""

    name: str
    n_tests: int
    n_found: int
    findings: Replication | None
    others: Replication | None
    found: Points
    other: Points


@dataclass(frozen=True, eq=False)
class FreshCheck:
    """By how many fresh models, and of what; note: which findings were not compared."""

    n_models: int
    families: tuple[FreshFamily, ...]
    note: str = ""
