"""A finished test stage as commands read it: families of p-values, findings with numbers and words.

Nothing is run here: a stage that is not cached is asked for in one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import Contrast
from datamodels_inf.findings import MARGINAL, Family, error_rate, finding_order, one_of
from datamodels_inf.internal.checks import Ints
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.columns import BATCH, MEMBERS
from pipeline.commands.aligned import called, headed, named
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.images.item_names import ItemNames
from pipeline.run import Pipeline
from pipeline.stages.inputs import Data
from pipeline.stages.prior.files import prior_in_use
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.premise import spoiled_tests
from pipeline.stages.test.tests_file import MethodTests
from pipeline.store.cache import Result
from pipeline.summaries import TestSummary, read_summary
from pipeline.text.given_names import one_line, outcome_name
from pipeline.text.interval_levels import coverage, level_range_text
from pipeline.unseen_effects import n_equal_weights, unseen_in

if TYPE_CHECKING:
    from pyarrow import Table

Row: TypeAlias = Mapping[str, Any]
NEEDED = ("download", "fit", "test")
ADDED = ("pvalue_adjusted", "effect_low_selected", "effect_high_selected", "weight")


@dataclass(frozen=True, eq=False)
class Tested:
    """The result of a test stage. Each method's tests are one family: the methods are not corrected for each other.

    prior: that of the prior stage, if the correction needs it.
    """

    config: Config
    result: Result
    data: Data
    prior: Result | None = None

    @classmethod
    def of(cls, pipeline: Pipeline, command: str) -> Tested:
        """What is in the store; `command` is what to run where it is not."""
        needs_prior = CORRECTIONS[pipeline.config.test.correction].needs_prior
        found = pipeline.finished((*NEEDED, "evidence", "prior") if needs_prior else NEEDED, command)
        data = Data.of(found["download"], pipeline.config)
        return cls(pipeline.config, found["test"], data, found.get("prior"))

    @property
    def labels(self) -> Labels | None:
        """Classes of training images and targets, where they are known."""
        return self.data.labels

    @property
    def names(self) -> ItemNames:
        """Of single training images and targets."""
        return self.data.names

    @property
    def outcome(self) -> str:
        """What the models' outcome is called."""
        return outcome_name(self.data.rows.outcome)

    def find_target(self, text: str) -> int:
        """The number of the target that --target names."""
        finder = ImageFinder.of_targets(self.data.n_targets, self.labels, self.data.names)
        try:
            return finder.find_one(text)
        except ValueError as error:
            raise BadInputError(f"--target {text}: {error}.") from error

    def n_unseen(self, method: str) -> int:
        """Effects of its pairs that a test of the effect itself would find."""
        return unseen_in(self.result, method, self.config.test, self.families[method].prior)

    def n_equal_weights(self, method: str) -> int:
        """Its pairs of equal weights, which it cannot see."""
        return n_equal_weights(self.result, method)

    @cached_property
    def summary(self) -> TestSummary:
        """What the stage says of its result."""
        return read_summary(self.result, TestSummary)

    @property
    def methods(self) -> tuple[str, ...]:
        """In the order of their tests."""
        return self.summary.methods

    @property
    def warning(self) -> str:
        """What spoils tests that the user wanted all the same."""
        return spoiled_tests(self.config, self.summary.masks)

    @cached_property
    def families(self) -> dict[str, Family]:
        """The p-values of each method, in the order of the tests."""
        from pyarrow import parquet

        table = parquet.read_table(self.result.folder / "tests.parquet", columns=["pvalue"])
        pvalues = table["pvalue"].to_numpy().reshape(len(self.methods), self.summary.n_tests)
        test = self.config.test
        return {
            name: Family(own, test, prior_in_use(test, self.prior, name))
            for name, own in zip(self.methods, pvalues, strict=True)
        }

    def promise(self, count: int = 2) -> str:
        """What `count` findings mean, as the end of a sentence."""
        test = self.config.test
        beyond = f" by more than τ = {test.tau:g}" if test.tau > 0 else ""
        what = "influences its" if count == 1 else "influence their"
        return f"{what} target differently{beyond}, {error_rate(test, self.summary.n_made)}"

    def intervals(self, method: str) -> str:
        """What the two intervals of a finding promise, in one line."""
        least, most = self.families[method].level_range
        text = level_range_text(least, most)
        whom = f"As a finding ({text})" if most > MARGINAL else "It holds for findings too"
        return f"95 % interval: for a pair named in advance. {whom}: {coverage(self.config.test, 'effect')}"

    def places(self, method: str) -> Ints:
        """Where the findings of a method stand among its tests, by their number."""
        found = np.flatnonzero(self.families[method].found)
        columns = (self._tests(method).column(name)[found] for name in ("effect", "target", "i", "j"))
        return found[finding_order(self.families[method].pvalue[found], *columns)]

    def figures(self, method: str) -> Table:
        """Of the findings of a method, by their number, what they can be chosen and sorted by."""
        return self._tests(method).take(self.places(method), ("effect", "target", "class_target", *MEMBERS))

    def findings(self, method: str, numbers: Ints) -> Iterator[dict[str, Any]]:
        """The rows of some of a method's findings, in the given order, with what makes them findings.

        Some at a time: there may be millions.
        """
        places, family = self.places(method), self.families[method]
        for start in range(0, len(numbers), BATCH):
            own = numbers[start : start + BATCH]
            rows = self._completed(method, self._tests(method).take(places[own - 1]), family, places[own - 1])
            yield from ({"number": number, **row} for number, row in zip(own.tolist(), rows, strict=True))

    def _tests(self, method: str) -> MethodTests:
        return MethodTests.of(self.result.folder, method, self.methods, self.summary.n_tests)

    def _completed(self, method: str, part: Table, family: Family, tests: Ints) -> Iterator[dict[str, Any]]:
        """Findings, `tests` of the family, with their adjusted p-values, longer intervals and words."""
        effects = (part[name].to_numpy() for name in ("effect", "effect_se", "effect_df"))
        low, high = family.selected_intervals(tests, *effects)
        weight = np.ones(len(tests)) if family.prior is None else family.prior.weight[tests]
        added = zip(family.adjusted[tests].tolist(), low.tolist(), high.tolist(), weight.tolist(), strict=True)
        for row, values in zip(part.to_pylist(), added, strict=True):
            row["method"] = method
            whole = {**row, "n_rows": self.summary.n_rows[method], **dict(zip(ADDED, values, strict=True))}
            words = f"{self._words(whole)}{_as_finding(whole, family.n_found)}"
            yield {**whole, **self._own_names(row), "words": words}

    @property
    def name_columns(self) -> tuple[str, ...]:
        """Of columns for names of single images, those that have any."""
        return self.names.columns(train=("name_i", "name_j"), targets=("name_target",))

    def _own_names(self, row: Row) -> dict[str, str]:
        """As they were given; of a group with semicolons between."""
        parts = {"name_i": ("train", row["members_i"]), "name_j": ("train", row["members_j"])}
        parts["name_target"] = ("target", [row["target"]])
        return {name: self.names.of_group(*parts[name]) for name in self.name_columns}

    def of_class(self, figures: Table, name: str) -> NDArray[np.bool_]:
        """Which findings have an image of a class: the target, or a member of i or of j."""
        assert self.labels is not None  # Else there is no class.
        label = self.labels.class_names.index(name)
        inside = np.array([word == name for word in figures["class_target"].to_pylist()], np.bool_)
        for side in MEMBERS:
            members = figures[side].combine_chunks()
            own = self.labels.train_labels[members.flatten().to_numpy()] == label
            inside |= np.logical_or.reduceat(own, members.offsets.to_numpy()[:-1] - members.offsets[0].as_py())
        return inside

    def _class(self, member: int) -> str:
        return "" if self.labels is None else self.labels.class_names[self.labels.train_labels[member]]

    def _words(self, row: Row) -> str:
        interval = row["effect_low"], row["effect_high"]
        effect = Contrast(row["effect"], interval, row["pvalue"], row["n_informative"], row["statistic"], MARGINAL)
        this, that = (
            " + ".join(
                called(self._class(m), "train", m, self._name("train", m), noun=self.data.noun) for m in row[name]
            )
            for name in ("members_i", "members_j")
        )
        target = row["target"]
        on = called(row["class_target"], "target", target, self._name("target", target))
        return effect.in_words(this, that, f"the {self.outcome} on {on}")

    def _name(self, part: str, number: int) -> str:
        return one_line(self.names.of(part, number))

    @property
    def heads(self) -> tuple[str, str, str]:
        """The heads of the columns that `cells` fills."""
        classes = self.labels is not None
        i, j = (headed(side, names=bool(self.names.train), classes=classes) for side in ("i", "j"))
        return i, j, headed("target", names=bool(self.names.targets), classes=classes)

    def cells(self, row: Row) -> list[str]:
        """Of the images of a test: "12 (dog)", or "12 (dog) 17 (cat)" of a group; by its name, where one has it."""
        sides = [
            " ".join(named(m, self._name("train", m) or self._class(m)) for m in row[name])
            for name in ("members_i", "members_j")
        ]
        return [*sides, named(row["target"], self._name("target", row["target"]) or row["class_target"])]


def _as_finding(row: Row, n_found: int) -> str:
    """The interval that makes up for the selection, in the direction of the verb; nothing where it is the 95 % one."""
    low, high = row["effect_low_selected"], row["effect_high_selected"]
    if math.isnan(row["effect"]) or (low, high) == (row["effect_low"], row["effect_high"]):
        return ""
    low, high = (low, high) if row["effect"] >= 0 else (-high, -low)
    return f"; {low:.3g} to {high:.3g} as {one_of(n_found)}"
