"""What a set of models is, in a table, before anything is fitted or tested: for `init` and `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.exchangeability import ExchangeabilityReport, check_exchangeable
from datamodels_inf.internal.checks import some_of
from datamodels_inf.masks import PackedMasks, row_hashes
from pipeline.commands.aligned import aligned
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.sources.mask_rows import CHUNK_ROWS
from pipeline.sources.opened import Opened, divided_rows
from pipeline.sources.row_split import refuse_empty
from pipeline.stages.download import agreed_labels, checked_images, checked_labels
from pipeline.text.given_names import outcome_name
from pipeline.training.inputs import Features

LOOKED_AT = 20_000
"""Masks of the fit, and of the test, whose law is looked at: bits of 50,000 images take 125 MB then."""
FEW_MODELS = 100
"""Of 100, half hold just one image of a pair: a difference of half a standard deviation of the outcome has p < 0.05
in 2 of 5 cases, before any correction."""


@dataclass(frozen=True)
class Scan:
    """What one pass over all completed rows shows.

    low, high, mean: of finite outcomes. unfit: rows with NaN or infinity among their outcomes. empty: masks without any
    image. n_different: masks. proportion: share of the images in a mask. constant: targets with one outcome alone.
    """

    low: float
    high: float
    mean: float
    unfit: tuple[int, ...]
    empty: tuple[int, ...]
    n_different: int
    proportion: float
    constant: tuple[int, ...] = ()

    @classmethod
    def of(cls, opened: Opened) -> Scan:
        """A part at a time."""
        sums, count, ones = 0.0, 0, 0
        lows, highs = np.full(opened.n_targets, np.inf), np.full(opened.n_targets, -np.inf)
        unfit: list[int] = []
        empty: list[int] = []
        hashes = []
        for start in range(0, len(opened.finished), CHUNK_ROWS):
            rows = opened.finished[start : start + CHUNK_ROWS]
            values = opened.outcomes.raw(rows)
            good = np.isfinite(values)
            unfit += rows[~good.all(axis=1)].tolist()
            some = values[good].astype(np.float64)
            sums, count = sums + float(some.sum()), count + some.size
            lows = np.minimum(lows, np.where(good, values, np.inf).min(axis=0))
            highs = np.maximum(highs, np.where(good, values, -np.inf).max(axis=0))
            bits = PackedMasks(opened.masks.bits(rows), opened.n_train)
            sizes = bits.row_sums()
            empty += rows[sizes == 0].tolist()
            ones += int(sizes.sum())
            hashes.append(row_hashes(bits))
        different = len(np.unique(np.concatenate(hashes)))
        mean = sums / count if count else np.nan
        share = ones / (len(opened.finished) * opened.n_train)
        ends = float(lows.min()), float(highs.max())
        constant = tuple(np.flatnonzero(lows >= highs).tolist())
        return cls(*ends, mean, tuple(unfit), tuple(empty), different, share, constant)


@dataclass(frozen=True, eq=False)
class Looked:
    """A configuration and its models, as the stages will see them; `Described` and `Divided` for their checks."""

    config: Config
    opened: Opened
    scan: Scan
    labels: Labels | None

    @classmethod
    def at(cls, config: Config, opened: Opened, scan: Scan | None = None) -> Looked:
        """With images and labels read, and held against the numbers of images and targets."""
        counts = opened.n_train, opened.n_targets
        own = opened.labels if opened.numbered is None else Features.load(opened.numbered.features).labels
        images = checked_images(opened.images, counts)
        labels = checked_labels(config.source.labels, agreed_labels(images, own), counts)
        return cls(config, opened, scan or Scan.of(opened), labels)

    @property
    def n_train(self) -> int:
        """Training images."""
        return self.opened.n_train

    @property
    def n_targets(self) -> int:
        """Targets."""
        return self.opened.n_targets

    @property
    def names(self) -> ItemNames:
        """Of single images and targets."""
        return self.opened.names

    @property
    def higher_is_better(self) -> bool:
        """Whether a helper raises the outcome."""
        return self.opened.higher_is_better

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first rows of the groups for the fit, and for the test."""
        divided = divided_rows(self.config, self.opened)
        fit, held_out = (divided.groups.first(np.arange(*part)) for part in (divided.fit, divided.held_out))
        return fit, held_out

    @property
    def n_fit(self) -> int:
        """Rows for the fit."""
        return len(self._rows[0])

    @property
    def n_held_out(self) -> int:
        """Rows for the test."""
        return len(self._rows[1])

    @cached_property
    def fit_masks(self) -> PackedMasks:
        """Of the fit rows, the first."""
        return self._masks(self._rows[0][:LOOKED_AT])

    @cached_property
    def held_out_masks(self) -> PackedMasks:
        """Of the tested rows, the first."""
        return self._masks(self._rows[1][:LOOKED_AT])

    def _masks(self, rows: NDArray[np.int64]) -> PackedMasks:
        """Packed a part at a time: lists are dense on the way."""
        parts = [self.opened.masks.bits(rows[start : start + CHUNK_ROWS]) for start in range(0, len(rows), CHUNK_ROWS)]
        return PackedMasks(np.concatenate(parts), self.n_train)

    @cached_property
    def premise(self) -> ExchangeabilityReport:
        """Whether the masks keep the premise of the tests, of the rows that are looked at."""
        labels = None if self.labels is None else self.labels.train_labels
        return check_exchangeable(self.held_out_masks, labels=labels, fit_masks=self.fit_masks)

    @property
    def n_repeated(self) -> int:
        """Completed models whose mask stands in an earlier row."""
        return len(self.opened.finished) - self.scan.n_different

    def refuse_bad_rows(self) -> None:
        """Rows that no run would read."""
        refuse_empty(self.opened.name, self.scan.empty)
        if self.scan.unfit:
            self.opened.outcomes.values(np.array(self.scan.unfit[:1]))  # Says which, and what to do.
            raise BadInputError(f"{self.opened.outcomes.name} cannot be read in row {some_of(self.scan.unfit)}.")


def survey_lines(looked: Looked) -> Iterator[str]:
    """The table, and what was assumed and left out, a line each."""
    yield from aligned([[name, value] for name, value in _cells(looked)])
    for line in (*looked.opened.assumed, *looked.opened.left_out):
        yield f"- {line}"


def doubts(looked: Looked) -> Iterator[str]:
    """What does not stop a run, but leaves it little to find, a line each."""
    constant = looked.scan.constant
    if constant:
        which = "every target" if len(constant) == looked.n_targets else f"target {some_of(constant)}"
        yield f"the {looked.opened.outcome} of {which} is the same for all models: nothing can be found there"
    if looked.n_held_out < FEW_MODELS:
        yield (
            f"only {looked.n_held_out:,} models test: nothing but very large effects can be told from chance; what "
            "more models would show: datamodels-inf plan"
        )
    for names, what in ((looked.names.train, "training images"), (looked.names.targets, "targets")):
        counts = Counter(names)
        shared = [name for name, count in counts.items() if count > 1]
        if shared:
            n = sum(counts[name] for name in shared)
            yield f"{n:,} {what} share their names with others, such as {shared[0]!r}: tell these apart by number"


def _cells(looked: Looked) -> Iterator[tuple[str, str]]:
    opened, scan, premise = looked.opened, looked.scan, looked.premise
    n_models = opened.masks.n_models
    classes = "no classes" if looked.labels is None else f"{len(looked.labels.class_names):,} classes"
    pictures = "no pictures" if opened.images is None and opened.numbered is None else "with pictures"
    better = "higher is better" if opened.higher_is_better else "lower is better"
    yield "models", f"{n_models:,}"
    unfinished = n_models - len(opened.finished)
    yield "unfinished", _count(unfinished, f"of these, left out: {len(opened.finished):,} are used")
    yield "training images", f"{opened.n_train:,}, {classes}, {pictures}"
    yield "targets", f"{opened.n_targets:,}"
    yield "mask law", _law(premise)
    yield "γ, share in a mask", f"{scan.proportion:.3g}"
    yield "duplicate masks", _count(looked.n_repeated, "of a mask in an earlier row")
    yield outcome_name(opened.outcome), f"{scan.low:.4g} to {scan.high:.4g}, mean {scan.mean:.4g}; {better}"
    yield "NaN or infinite", _count(len(scan.unfit), "of the models")
    yield "rows", f"{looked.n_fit:,} for the fit, {looked.n_held_out:,} for the test"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count else "none"


def _law(premise: ExchangeabilityReport) -> str:
    words = {
        "fixed-size": f"{premise.largest:,} of {premise.d:,} images in every mask",
        "bernoulli": f"{premise.smallest:,} to {premise.largest:,} of {premise.d:,} images in a mask",
        "stratified": "so many of each class in every mask",
    }
    verdict = "exchangeable" if premise.ok else "not exchangeable"
    return f"{premise.law}: {words[premise.law]}; {verdict}"
