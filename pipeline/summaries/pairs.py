"""What the stages from the data to the page about pairs say of their results: download, fit, test, features,
robustness, verify and report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from datamodels_inf.exchangeability import ExchangeabilityReport
from datamodels_inf.row_blocks import RowRange
from pipeline.summaries.base import Facts, Summary
from pipeline.text.numbers import counted


class DownloadSummary(Summary):
    """Where the rows are, and which of them are for what.

    masks_file, margins_file, weights: relative to the stage's folder. fit, held_out, coding: rows of these files; no
    rows for the fit if only weights are loaded, and then those of `coding` tell what the weights multiply. columns:
    the targets whose margins were kept, None for all. n_unfinished, n_repeated: models left out, and made one with
    another of the same mask. outside: files beside the folder that it points at, with checksums of the rows used.
    awaits_images: whether those of CIFAR-10 belong to it but could not be had. outcome: what a "margin" is here, in a
    word; higher_is_better: whether a larger one is what models are trained for. has_names: whether images or targets
    have names of their own (names.json).
    """

    n_models: int
    n_train: int
    n_targets: int
    masks_file: str
    margins_file: str
    fit: RowRange
    held_out: RowRange
    coding: RowRange = (0, 0)
    columns: tuple[int, ...] | None = None
    weights: str | None = None
    n_unfinished: int = 0
    n_repeated: int = 0
    outside: Mapping[str, Any] = {}
    has_images: bool = False
    awaits_images: bool = False
    outcome: str = "margin"
    higher_is_better: bool = True
    has_names: bool = False

    @property
    def n_rows_here(self) -> int:
        """Models whose rows are here: of weights that are loaded, the others need not be fetched."""
        return sum(stop - start for start, stop in (self.fit, self.coding, self.held_out))

    def describe(self) -> str:
        """How many models, images and targets; and how many of the models are here, where not all had to come."""
        some = f"{self.n_rows_here:,} of " if self.outside and self.n_rows_here < self.n_models else ""
        rows = f"{some}{counted(self.n_models, 'model')} × {counted(self.n_train, 'image')}"
        return f"{rows}, {counted(self.n_targets, 'target')}"


class TargetQuality(BaseModel):
    """R² and rank correlation on held-out models, one entry a target; None where they are not defined."""

    targets: tuple[int, ...]
    r2: tuple[float | None, ...]
    spearman: tuple[float | None, ...]


class CalibrationSummary(BaseModel):
    """Of scores from a file: what they were multiplied with and shifted by, and R² on the fit rows; by target."""

    targets: tuple[int, ...]
    scale: tuple[float | None, ...]
    bias: tuple[float | None, ...]
    r2_before: tuple[float | None, ...]
    r2_after: tuple[float | None, ...]


class FitOrigin(Facts):
    """Where datamodels come from.

    coding: what the weights multiplied in the file, with the errors that decided it and on how many models; "mask"
    where they were fitted here. gap_…: relative duality gaps, where they were. n_lambda_at_end: targets whose best λ
    is the smallest tried.
    """

    coding: Literal["mask", "signed"]
    gap_tolerance: float | None = None
    gap_max: float | None = None
    gap_max_on_paths: float | None = None
    n_lambda_at_end: int | None = None
    mse_mask: float | None = None
    mse_signed: float | None = None
    mse_constant: float | None = None
    coding_rows: int | None = None
    calibration: CalibrationSummary | None = None
    n_constant_scores: int | None = None


class FitSummary(FitOrigin, Summary):
    """How well they predict held-out margins, beside where they come from.

    Where every model tests: n_prefixes fits, each on the rows before a block, r2_of_prefixes the median R² of each on
    its block; gap_… are the largest of all fits, the other figures those of the last.
    """

    n_targets: int
    n_prefixes: int = 1
    r2_of_prefixes: tuple[float | None, ...] = ()
    r2_median: float | None
    spearman_median: float | None
    n_nonzero_median: float
    quality: TargetQuality

    def describe(self) -> str:
        """How many targets, and the median R² on held-out models."""
        quality = "unknown" if self.r2_median is None else f"{self.r2_median:.2f}"
        return f"{counted(self.n_targets, 'target')}, median held-out R² {quality}"


class DesignSummary(BaseModel):
    """n_repeated: pairs that were drawn twice and are tested once."""

    design: str
    seed: int
    n_repeated: int
    n_targets: int
    n_of_kind: Mapping[str, int]


class TestSummary(Summary):
    """n_tests: pairs of each method, with the n_untested that the law of the masks does not allow. notes: by method,
    how many rows have which. n_rows: by method, the models that tested each pair; block_rows: those of each block.
    masks: the check of the premise in full.
    """

    __test__ = False  # Not a test case of pytest's.

    n_tests: int
    n_untested: int
    methods: tuple[str, ...]
    n_rows: Mapping[str, int]
    block_rows: tuple[int, ...]
    design: DesignSummary
    notes: Mapping[str, Mapping[str, int]]
    tau_x: float
    mask_law: str
    mask_proportion: float
    exchangeable: bool
    exchangeability_reasons: tuple[str, ...]
    masks: ExchangeabilityReport

    def tested_on(self, method: str) -> str:
        """The models that tested each pair, in words."""
        count, blocks = self.n_rows[method], len(self.block_rows)
        if blocks == 1:
            return counted(count, "held-out model")
        return (
            f"the last block's {counted(count, 'model')}"
            if method in self.on_last
            else f"{counted(count, 'model')} in {counted(blocks, 'block')}"
        )

    @property
    def on_last(self) -> tuple[str, ...]:
        """Methods that do not combine blocks of rows, where there are several."""
        return tuple(name for name in self.methods if self.n_rows[name] < sum(self.block_rows))

    @property
    def n_made(self) -> int:
        """Pairs that were tested."""
        return self.n_tests - self.n_untested

    def describe(self) -> str:
        """How many pairs were tested, by which methods, and how many could not be."""
        left_out = f", {self.n_untested:,} not tested" if self.n_untested else ""
        return f"{counted(self.n_made, 'pair')} by {', '.join(self.methods)}{left_out}"


class FeaturesSummary(Summary):
    """Of the network whose features say which images look alike."""

    n_train: int
    n_features: int
    steps: int

    def describe(self) -> str:
        """How many features, of how many images."""
        return f"{counted(self.n_features, 'feature')} of {counted(self.n_train, 'image')}"


class LookAlikesSummary(BaseModel):
    """The images nearest to one, how far they are, which are all but copies, and how far images are typically."""

    images: tuple[int, ...]
    distances: tuple[float, ...]
    near_copies: tuple[int, ...]
    typical: float


class AgreementSummary(BaseModel):
    """How far n re-runs agree with the original; None where that is not defined."""

    n: int
    same_sign: float | None
    effects: float | None
    pvalues: float | None


class CaseSummary(BaseModel):
    """A pair that was tested again: the number of its finding (None: the user's own), look-alikes of "i", of "j" and
    of targets ("target 7"), and the agreement of each role.
    """

    finding: int | None
    i: int
    j: int
    targets: tuple[int, ...]
    near: Mapping[str, LookAlikesSummary]
    agreement: Mapping[str, AgreementSummary]


class RobustnessSummary(Summary):
    """split: findings of the first half of the held-out models, tested again on the second."""

    method: str
    metric: str
    split: bool
    n_held_out: int
    n_tests: int
    cases: tuple[CaseSummary, ...]

    def describe(self) -> str:
        """How many pairs were made again, by which method, in how many tests."""
        return f"{counted(len(self.cases), 'pair')} made again by {self.method}, {counted(self.n_tests, 'test')}"


class VerifySummary(Summary):
    """method: whose findings were verified, None for a pair. n_pairs: different pairs of the claims, each with
    n_couples of its own; n_models in all. verdicts: how many claims have which.
    """

    method: str | None = None
    n_claims: int
    n_pairs: int
    n_couples: int
    n_models: int
    verdicts: Mapping[str, int]

    def describe(self) -> str:
        """How many claims, on how many fresh models, with which verdicts."""
        if not self.n_claims:
            return "nothing was found, so nothing was trained"
        verdicts = ", ".join(f"{count:,} {name}" for name, count in self.verdicts.items() if count)
        return f"{verdicts} of {self.n_claims:,} on {self.n_models:,} fresh models"


class ReportSummary(Summary):
    """n_tests: of all methods. n_findings: by method. n_unseen: by method, tests that see nothing of their pair."""

    n_tests: int
    n_findings: Mapping[str, int]
    n_unseen: Mapping[str, int] = {}

    def describe(self) -> str:
        """ "39 findings by swap, 64 findings by contrast; swap cannot see 177 of 2,000 pairs"."""
        found = ", ".join(f"{counted(count, 'finding')} by {method}" for method, count in self.n_findings.items())
        return "; ".join([found, *self._unseen()])

    def _unseen(self) -> Iterator[str]:
        """How many of its pairs a method cannot see, said once for methods that cannot see as many."""
        blind: dict[int, list[str]] = {}
        for method, count in self.n_unseen.items():
            blind.setdefault(count, []).append(method)
        of = counted(self.n_tests // max(1, len(self.n_findings)), "pair")
        for count, methods in blind.items():
            names = " and ".join(filter(None, [", ".join(methods[:-1]), methods[-1]]))
            yield f"{names} cannot see {count:,} of {of}"
