"""A finding's pair tested again with look-alikes: the re-runs, by case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rerun:
    """One test; `of` is the target whose original it is compared with."""

    role: str
    i: int
    j: int
    target: int
    of: int
    pvalue: float
    adjusted: float
    effect: float
    effect_low: float
    effect_high: float


@dataclass(frozen=True)
class Alike:
    """A look-alike and its distance; `near_copy` where it is all but the same image."""

    index: int
    distance: float
    near_copy: bool


@dataclass(frozen=True)
class Agreement:
    """See `datamodels_inf.neighbours.agreement`; NaN where it is not defined."""

    n: int
    same_sign: float
    effects: float
    pvalues: float


@dataclass(frozen=True)
class Case:
    """A pair that was tested again. number: of its finding, 0 for a pair that the user named."""

    number: int
    i: int
    j: int
    targets: tuple[int, ...]
    near_i: tuple[Alike, ...]
    near_j: tuple[Alike, ...]
    agreement: Mapping[str, Agreement]
    reruns: tuple[Rerun, ...]

    @property
    def title(self) -> str:
        """ "Finding 3"."""
        return f"Finding {self.number}" if self.number else "The pair that was asked for"

    @property
    def pairs(self) -> list[tuple[str, int, int]]:
        """(role, i, j) of the rows of the paper's Table 2: the pair itself, then look-alikes beside each other."""
        near = zip(self.near_i, self.near_j, strict=True)
        return [("original", self.i, self.j), *(("neighbour", a.index, b.index) for a, b in near)]

    def again(self, role: str, target: int) -> list[Rerun]:
        """The re-runs of a role that are compared on one target."""
        return [rerun for rerun in self.reruns if rerun.role == role and rerun.of == target]

    def of_pair(self, role: str, i: int, j: int, target: int) -> Rerun | None:
        """The re-run of one of `pairs` on one target; None where there was no such test."""
        found = [rerun for rerun in self.again(role, target) if (rerun.i, rerun.j) == (i, j)]
        return found[-1] if found else None


@dataclass(frozen=True)
class Robustness:
    """All cases. explanation: what their p-values may be used for. classes: of ("train", i) and ("target", t)."""

    method: str
    metric: str
    explanation: str
    n_tests: int
    n_models: int
    classes: Mapping[tuple[str, int], str]
    cases: tuple[Case, ...]
