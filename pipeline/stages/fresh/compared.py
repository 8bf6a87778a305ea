"""Findings and as many other tests, and how far fresh models agree with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.replication import HeldAgainst, Replication, replication, same_sign
from pipeline.stages.fresh.models import FreshModels
from pipeline.summaries import HeldFamily

Signs: TypeAlias = NDArray[np.int8]
FEWEST = 100
"""Others that are compared where there are fewer findings."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Effects by fresh models, one entry a test; standard_error is infinite where none is known."""

    estimate: Floats
    standard_error: Floats
    freedom: Floats

    @classmethod
    def empty(cls, n: int) -> Estimates:
        """To be filled."""
        return cls(*np.full((3, n), np.nan))

    def take(self, places: Ints) -> Estimates:
        """These tests alone."""
        return Estimates(*(getattr(self, field.name)[places] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Compared:
    """Tests that are held against fresh models, with their figures by the set, one entry each.

    found: which are findings. low, high: the marginal interval. low_selected, high_selected: that of a finding, NaN for
    others.
    """

    found: NDArray[np.bool_]
    effect: Floats
    error: Floats
    low: Floats
    high: Floats
    low_selected: Floats
    high_selected: Floats

    def against(self, fresh: Estimates) -> HeldAgainst:
        """With what fresh models say of the same tests."""
        with np.errstate(invalid="ignore"):  # The whole line has no length.
            half, half_selected = (self.high - self.low) / 2.0, (self.high_selected - self.low_selected) / 2.0
        return HeldAgainst(
            self.effect, self.error, half, half_selected, fresh.estimate, fresh.standard_error, fresh.freedom
        )

    def columns(self, fresh: Estimates) -> dict[str, NDArray[Any]]:
        """For a table."""
        return {
            "finding": self.found,
            "effect": self.effect,
            "se": self.error,
            "low": self.low,
            "high": self.high,
            "low_selected": self.low_selected,
            "high_selected": self.high_selected,
            "fresh": fresh.estimate,
            "fresh_se": fresh.standard_error,
        }

    def family(self, fresh: Estimates, signs: Signs, n_tests: int, n_found: int, *, count_false: bool) -> HeldFamily:
        """Of the findings and of the others.

        signs: (splits, 2, tests), of the effects by each half of the fresh models. count_false: see `replication`.
        """
        held = self.against(fresh)

        def part(kind: NDArray[np.bool_], count_false: bool) -> Replication | None:
            some = np.flatnonzero(kind & held.known)
            if not some.size:
                return None
            halves = np.array([[same_sign(held.effect[some], half[some]) for half in split] for split in signs])
            return replication(held.take(some), halves, count_false=count_false)

        findings, others = part(self.found, count_false), part(~self.found, False)
        return HeldFamily(n_tests=n_tests, n_found=n_found, findings=findings, others=others)


def signs_of_halves(
    splits: Iterable[tuple[FreshModels, FreshModels]], estimate: Callable[[FreshModels], Estimates]
) -> Signs:
    """(splits, 2, tests): of what `estimate` says by each half; 0 where it does not know."""
    signs = [[np.nan_to_num(np.sign(estimate(half).estimate)) for half in split] for split in splits]
    return np.array(signs).astype(np.int8)


def n_others(n_found: int, n_left: int) -> int:
    """How many others of `n_left` are compared: as many as findings, or FEWEST."""
    return min(n_left, max(n_found, FEWEST))
