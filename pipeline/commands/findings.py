"""`datamodels-inf findings` and `compare`: the table of a finished test stage, corrected for multiplicity, as text.

Nothing is run here: a stage that is not cached is asked for in one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.contrast import Contrast, effect_interval
from datamodels_inf.internal.checks import Floats, Ints
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.finding_level import MARGINAL, finding_level, level_text, one_of
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline
from pipeline.stages.inputs import Data
from pipeline.stages.test.pair_chunks import UNSEEN
from pipeline.stages.test.premise import report_of, spoiled_tests
from pipeline.store.cache import Result
from pipeline.text.csv_text import csv_line
from pipeline.text.numbers import terminal_pvalue

Sort: TypeAlias = Literal["p", "effect", "target"]
Row: TypeAlias = Mapping[str, Any]

NUMBERS = (
    "statistic", "pvalue", "pvalue_adjusted", "theta_i", "theta_j", "effect", "effect_low", "effect_high",
    "effect_low_selected", "effect_high_selected",
)  # fmt: skip
CSV_COLUMNS = (
    "method", "number", "i", "j", "target", "class_i", "class_j", "class_target", *NUMBERS, "n_informative", "note",
    "words",
)  # fmt: skip
HEADER = (
    "no.", "i (class)", "j (class)", "target (class)", "p", "adjusted p", "effect", "95% interval", "as a finding",
)  # fmt: skip
ADDED = ("pvalue_adjusted", "effect_low_selected", "effect_high_selected")
ORDERS: dict[Sort, Callable[[Row], tuple[float, ...]]] = {
    "p": lambda row: (row["pvalue"], -_size(row["effect"]), row["target"], row["i"], row["j"]),
    "effect": lambda row: (-_size(row["effect"]), row["pvalue"], row["target"], row["i"], row["j"]),
    "target": lambda row: (row["target"], row["pvalue"], row["i"], row["j"]),
}


@dataclass(frozen=True, eq=False)
class Tested:
    """The result of a test stage. Each method's tests are one family: the methods are not corrected for each other."""

    config: Config
    result: Result
    labels: Labels | None

    @classmethod
    def of(cls, pipeline: Pipeline, command: str) -> Tested:
        """What is in the store; `command` is what to run where it is not."""
        found: dict[str, Result] = {}
        for name, spec in pipeline.specs():
            if "test" in found:
                break
            result, reason = pipeline.store.look_up(spec, found)
            if result is None:
                raise BadInputError(
                    f"the {name} stage of this configuration is not in {pipeline.store.root} ({reason}); "
                    f"first run: {command}"
                )
            found[name] = result
        return cls(pipeline.config, found["test"], Data.of(found["download"]).labels)

    @property
    def methods(self) -> list[str]:
        methods: list[str] = self.result.summary["methods"]
        return methods

    @property
    def n_tests(self) -> int:
        return int(self.result.summary["n_tests"])

    @property
    def warning(self) -> str:
        """What spoils tests that the user wanted all the same."""
        return spoiled_tests(self.config, report_of(self.result.summary["masks"]))

    @property
    def n_made(self) -> int:
        """Without those that the law of the masks does not allow."""
        return self.n_tests - int(self.result.summary["n_untested"])

    @cached_property
    def adjusted(self) -> Floats:
        """(methods, tests): adjusted p-values."""
        from pyarrow import parquet

        table = parquet.read_table(self.result.folder / "tests.parquet", columns=["pvalue"])
        families = table["pvalue"].to_numpy().reshape(len(self.methods), self.n_tests)
        return np.stack([adjust_pvalues(family, self.config.test.correction) for family in families])

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """(methods, tests): which are findings."""
        return np.asarray(self.adjusted <= self.config.test.alpha)

    @property
    def promise(self) -> str:
        """What a finding means, as the end of a sentence."""
        test = self.config.test
        beyond = f" by more than τ = {test.tau:g}" if test.tau > 0 else ""
        correction = CORRECTIONS[test.correction]
        rate = correction.controls == "FDR"
        what = f"at a false discovery rate of {test.alpha:g}" if rate else f"at a family-wise error of {test.alpha:g}"
        return f"influence their target differently{beyond}, {what} ({correction.title})"

    def n_found(self, method: str) -> int:
        return int(self.found[self.methods.index(method)].sum())

    def level(self, method: str) -> float:
        """Of the intervals that make up for the selection; NaN where nothing was found."""
        return finding_level(self.config.test.correction, self.config.test.alpha, self.n_made, self.n_found(method))

    def intervals(self, method: str) -> str:
        """What the two intervals of a finding promise, in one line."""
        level = self.level(method)
        rate = CORRECTIONS[self.config.test.correction].controls == "FDR"
        text = level_text(level).replace(" ", "")
        whom = f"As a finding ({text})" if level > MARGINAL else "It holds for findings too"
        what = "the expected share of findings whose interval misses" if rate else "the chance that any interval misses"
        dependence = CORRECTIONS[self.config.test.correction].dependence
        most = f"{what} the effect is at most {self.config.test.alpha:g}, {dependence}"
        return f"95% interval: for a pair named in advance. {whom}: {most}"

    def findings(self, method: str) -> Iterator[dict[str, Any]]:
        """The rows of one method's findings, read a group of rows at a time."""
        from pyarrow import parquet

        place = self.methods.index(method)
        file = parquet.ParquetFile(self.result.folder / "tests.parquet")
        wanted, adjusted = np.zeros(len(self.methods) * self.n_tests, np.bool_), self.adjusted.ravel()
        wanted[place * self.n_tests : (place + 1) * self.n_tests] = self.found[place]
        start, level, n_found = 0, self.level(method), self.n_found(method)
        for number in range(file.num_row_groups):
            rows = slice(start, start + file.metadata.row_group(number).num_rows)
            start = rows.stop
            if not wanted[rows].any():
                continue
            part = file.read_row_group(number).filter(wanted[rows])
            effect, error, freedom = (part[name].to_numpy() for name in ("effect", "effect_se", "effect_df"))
            low, high = effect_interval(effect, error, freedom, level)
            added = zip(adjusted[rows][wanted[rows]].tolist(), low.tolist(), high.tolist(), strict=True)
            for row, values in zip(part.to_pylist(), added, strict=True):
                whole = {**row, **dict(zip(ADDED, values, strict=True))}
                yield {**whole, "words": f"{self._words(whole)}{_as_finding(whole, n_found)}"}

    def classes(self, row: Row) -> set[str]:
        """Of all images of a test: the members of i and of j, and the target."""
        return {row["class_target"], *(self._class(m) for m in (*row["members_i"], *row["members_j"]))}

    def _class(self, member: int) -> str:
        return "" if self.labels is None else self.labels.class_names[self.labels.train_labels[member]]

    def _words(self, row: Row) -> str:
        interval = row["effect_low"], row["effect_high"]
        effect = Contrast(row["effect"], interval, row["pvalue"], row["n_informative"], row["statistic"], MARGINAL)
        this, that = (
            " + ".join(f"{self._class(member) or 'image'} (train {member})" for member in row[name])
            for name in ("members_i", "members_j")
        )
        return effect.in_words(this, that, f"the margin on {row['class_target'] or 'image'} (target {row['target']})")

    def cells(self, row: Row) -> list[str]:
        """Of the images of a test: "12 (dog)", or "12 (dog) 17 (cat)" of a group."""
        sides = [" ".join(_named(m, self._class(m)) for m in row[name]) for name in ("members_i", "members_j")]
        return [*sides, _named(row["target"], row["class_target"])]


def finding_lines(
    tested: Tested, *, method: str | None, sort: Sort, wanted_class: str | None, as_csv: bool
) -> Iterator[str]:
    """The findings of one method or of all, as an aligned table with sentences, or as CSV.

    Each method's findings are numbered by p-value, then the larger effect, whatever the order in which they stand.
    """
    _check(tested, method, wanted_class)
    if as_csv:
        yield csv_line(CSV_COLUMNS)
    for name in tested.methods if method is None else [method]:
        numbered = enumerate(sorted(tested.findings(name), key=ORDERS["p"]), start=1)
        rows = [{**row, "number": number} for number, row in numbered]
        rows = [row for row in rows if wanted_class is None or wanted_class in tested.classes(row)]
        rows.sort(key=ORDERS[sort])
        if as_csv:
            yield from (csv_line(_csv_values(row)) for row in rows)
            continue
        if tested.warning:
            yield f"Warning: p-values may not be valid: {tested.warning}"
        yield f"{name}: {tested.n_found(name):,} of {tested.n_made:,} pairs {tested.promise}"
        if tested.n_found(name):
            yield tested.intervals(name)
        if wanted_class is not None:
            yield f"{len(rows):,} of them with an image of class {wanted_class}"
        if rows:
            yield from _table(tested, rows)
        yield ""


def compare_lines(tested: Tested) -> Iterator[str]:
    """How many findings each method has, how many of them the others have too, and what was not tested."""
    found = tested.found.astype(np.int64)
    common = found @ found.T
    alone = (found * (found.sum(axis=0) == 1)).sum(axis=1)
    if tested.warning:
        yield f"Warning: p-values may not be valid: {tested.warning}"
    yield f"Of {tested.n_made:,} pairs, so many {tested.promise}:"
    yield ""
    header = ["method", "findings", "no other", *(f"also {method}" for method in tested.methods)]
    yield from _aligned([header, *_comparison(tested.methods, common, alone)], str.rjust)
    if len(tested.methods) == 1:
        yield ""
        yield "Only one method was run; several stand side by side with, say, --config digits-methods."
    yield from _untested(tested.result.summary["notes"])


def _untested(notes: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What stands in `note`: pairs that some methods could not see stay in the family, those not tested do not."""
    methods: dict[tuple[str, int], list[str]] = {}
    for method, counts in notes.items():
        for note, count in counts.items():
            methods.setdefault((note, count), []).append(method)
    if methods:
        yield ""
    for (note, count), names in methods.items():
        what = "Counted, but not really tested" if note in UNSEEN else "Note"
        yield f"{what}: {count:,} pairs by {', '.join(names)} ({note})"


def _comparison(methods: Sequence[str], common: Ints, alone: Ints) -> Iterator[list[str]]:
    for place, method in enumerate(methods):
        others = ["–" if k == place else f"{n:,}" for k, n in enumerate(common[place].tolist())]
        yield [method, f"{common[place, place]:,}", f"{alone[place]:,}", *others]


def _check(tested: Tested, method: str | None, wanted_class: str | None) -> None:
    if method is not None and method not in tested.methods:
        raise BadInputError(
            f"--method {method} was not run; this configuration has {', '.join(tested.methods)} (test.method)."
        )
    if wanted_class is not None:
        names = () if tested.labels is None else tested.labels.class_names
        if wanted_class not in names:
            there = f"there are {', '.join(names)}" if names else "the source has no labels"
            raise BadInputError(f"--class {wanted_class} is no class of this data; {there}.")


def _table(tested: Tested, rows: Sequence[Row]) -> Iterator[str]:
    """Two lines a finding: its numbers, and what they say."""
    cells = [list(HEADER)]
    for row in rows:
        pvalues = [terminal_pvalue(row[name]) for name in ("pvalue", "pvalue_adjusted")]
        ends = [f"{row[f'effect_low{end}']:.3g} to {row[f'effect_high{end}']:.3g}" for end in ("", "_selected")]
        cells.append([str(row["number"]), *tested.cells(row), *pvalues, f"{row['effect']:.3g}", *ends])
    header, *lines = _aligned(cells, str.ljust)
    yield header
    for row, line in zip(rows, lines, strict=True):
        yield line
        yield f"    {row['words']}{f' ({note})' if (note := row['note']) else ''}"


def _as_finding(row: Row, n_found: int) -> str:
    """The interval that makes up for the selection, in the direction of the verb; nothing where it is the 95 % one."""
    low, high = row["effect_low_selected"], row["effect_high_selected"]
    if math.isnan(row["effect"]) or (low, high) == (row["effect_low"], row["effect_high"]):
        return ""
    low, high = (low, high) if row["effect"] >= 0 else (-high, -low)
    return f"; {low:.3g} to {high:.3g} as {one_of(n_found)}"


def _csv_values(row: Row) -> list[Any]:
    values = {**row, "i": tuple(row["members_i"]), "j": tuple(row["members_j"])}
    return [values[name] for name in CSV_COLUMNS]


def _aligned(cells: Sequence[Sequence[str]], pad: Callable[[str, int], str]) -> list[str]:
    """Columns of equal width: the first to the left, the others as `pad` says."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join([line[0].ljust(widths[0]), *map(pad, line[1:], widths[1:])]).rstrip() for line in cells]


def _named(number: int, name: str) -> str:
    return f"{number} ({name})" if name else str(number)


def _size(effect: float) -> float:
    return 0.0 if math.isnan(effect) else abs(effect)
