"""`datamodels-inf findings` and `compare`: the table of a finished test stage, corrected for multiplicity, as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from datamodels_inf.internal.checks import Ints
from pipeline.commands.aligned import aligned
from pipeline.commands.tested import Row, Tested
from pipeline.errors import BadInputError
from pipeline.stages.test.pair_chunks import UNSEEN
from pipeline.summaries import TestSummary
from pipeline.text.csv_text import csv_line
from pipeline.text.given_names import listed
from pipeline.text.numbers import counted, terminal_pvalue
from pipeline.unseen_effects import advice

Sort: TypeAlias = Literal["p", "effect", "target"]

NUMBERS = (
    "statistic", "pvalue", "pvalue_adjusted", "theta_i", "theta_j", "effect", "effect_low", "effect_high",
    "effect_low_selected", "effect_high_selected",
)  # fmt: skip
CSV_COLUMNS = (
    "method", "number", "i", "j", "target", "class_i", "class_j", "class_target", *NUMBERS, "n_informative", "n_rows",
    "weight", "note", "words",
)  # fmt: skip
NUMBER_HEADS = ("p", "adjusted p", "effect", "95 % interval", "as a finding")


@dataclass(frozen=True)
class Asked:
    """Which findings: of one method or of all, with an image of a class, on some targets, the first so many."""

    method: str | None = None
    sort: Sort = "p"
    wanted_class: str | None = None
    targets: tuple[str, ...] = ()
    limit: int | None = None


def finding_lines(tested: Tested, asked: Asked, *, as_csv: bool, command: str = "") -> Iterator[str]:
    """The findings of one method or of all, as an aligned table with sentences, or as CSV.

    Each method's findings keep their numbers, whatever the order in which they stand and however few are shown.
    command: what makes the run, to tell which method would see more.
    """
    method = asked.method
    _check(tested, method, asked.wanted_class)
    targets = {tested.find_target(text) for text in asked.targets}
    if as_csv:
        yield csv_line((*CSV_COLUMNS, *tested.name_columns))
    for name in tested.methods if method is None else [method]:
        numbers = _numbers(tested, name, asked, targets)
        rows = tested.findings(name, numbers[: asked.limit])
        if as_csv:
            yield from (csv_line(_csv_values(row, tested.name_columns)) for row in rows)
            continue
        if tested.warning:
            yield f"Warning: p-values may not be valid: {tested.warning}"
        count, on = tested.families[name].n_found, tested.summary.tested_on(name)
        yield f"{name}: {count:,} of {counted(tested.summary.n_made, 'pair')} {tested.promise(count)}; tested on {on}"
        yield from _unable(tested.summary, name)
        unseen, equal = 0 if count else tested.n_unseen(name), tested.n_equal_weights(name)
        yield from filter(None, [advice(unseen, tested.config.test, command, equal)])
        if count:
            yield tested.intervals(name)
        shown = min(len(numbers), asked.limit or len(numbers))
        yield from _which(len(numbers), shown, asked.wanted_class, sorted(targets), tested.data.noun)
        if shown:
            yield from _table(tested, list(rows))
        yield ""


def _numbers(tested: Tested, method: str, asked: Asked, targets: Collection[int]) -> Ints:
    """Of the findings that are asked for, in their order; chosen by columns, for there may be millions."""
    figures = tested.figures(method)
    effect, target = figures["effect"].to_numpy(), figures["target"].to_numpy()
    numbers = np.arange(1, len(effect) + 1)
    keep = np.ones(len(effect), np.bool_)
    if targets:
        keep &= np.isin(target, list(targets))
    if asked.wanted_class is not None and len(effect):
        keep &= tested.of_class(figures, asked.wanted_class)
    size = np.where(np.isnan(effect), 0.0, np.abs(effect))
    order = np.lexsort((numbers, {"p": numbers, "effect": -size, "target": target}[asked.sort]))
    return numbers[order[keep[order]]]


def _unable(summary: TestSummary, method: str) -> Iterator[str]:
    """How many of a method's pairs it cannot see, and why."""
    for note, count in summary.notes.get(method, {}).items():
        if note in UNSEEN:
            yield f"{count:,} of the {counted(summary.n_made, 'pair')} cannot be seen by it ({note})"


def _which(n_found: int, n_shown: int, wanted_class: str | None, targets: Sequence[int], noun: str) -> Iterator[str]:
    """ "12 of them on target 84, with an image of class 8; the first 5:", where less than everything is asked for."""
    parts = []
    if targets:
        parts.append(f"on target{'s' * (len(targets) > 1)} {', '.join(map(str, targets))}")
    if wanted_class is not None:
        parts.append(f"with an {noun} of class {wanted_class}")
    if parts:
        yield f"{n_found:,} of them {' and '.join(parts)}"
    if n_shown < n_found:
        yield f"the first {f'{n_shown:,} ' if n_shown > 1 else ''}of {n_found:,}:"


def compare_lines(tested: Tested) -> Iterator[str]:
    """How many findings each method has, how many of them the others have too, and what was not tested."""
    found = np.stack([family.found for family in tested.families.values()]).astype(np.int64)
    common = found @ found.T
    alone = (found * (found.sum(axis=0) == 1)).sum(axis=1)
    if tested.warning:
        yield f"Warning: p-values may not be valid: {tested.warning}"
    yield f"Of {counted(tested.summary.n_made, 'pair')}, so many {tested.promise()}:"
    yield ""
    header = ["method", "models", "findings", "no other", *(f"also {method}" for method in tested.methods)]
    yield from aligned([header, *_comparison(tested.summary, common, alone)], right=True)
    if tested.summary.on_last:
        yield ""
        yield f"Tested on the last block of models alone: {', '.join(tested.summary.on_last)}."
    if len(tested.methods) == 1:
        yield ""
        yield "Only one method was run; several stand side by side with, say, --config digits-methods."
    yield from _untested(tested.summary.notes)


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
        yield f"{what}: {counted(count, 'pair')} by {', '.join(names)} ({note})"


def _comparison(summary: TestSummary, common: Ints, alone: Ints) -> Iterator[list[str]]:
    for place, method in enumerate(summary.methods):
        others = ["–" if k == place else f"{n:,}" for k, n in enumerate(common[place].tolist())]
        rows = f"{summary.n_rows[method]:,}"
        yield [method, rows, f"{common[place, place]:,}", f"{alone[place]:,}", *others]


def _check(tested: Tested, method: str | None, wanted_class: str | None) -> None:
    if method is not None and method not in tested.methods:
        raise BadInputError(
            f"--method {method} was not run; this configuration has {', '.join(tested.methods)} (test.method)."
        )
    if wanted_class is not None:
        names = () if tested.labels is None else tested.labels.class_names
        if wanted_class not in names:
            there = f"there are {listed(names)}" if names else "the source has no labels"
            raise BadInputError(f"--class {wanted_class} is no class of this data; {there}.")


def _table(tested: Tested, rows: Sequence[Row]) -> Iterator[str]:
    """Two lines a finding: its numbers, and what they say."""
    cells = [["no.", *tested.heads, *NUMBER_HEADS]]
    for row in rows:
        pvalues = [terminal_pvalue(row[name]) for name in ("pvalue", "pvalue_adjusted")]
        ends = [f"{row[f'effect_low{end}']:.3g} to {row[f'effect_high{end}']:.3g}" for end in ("", "_selected")]
        cells.append([str(row["number"]), *tested.cells(row), *pvalues, f"{row['effect']:.3g}", *ends])
    header, *lines = aligned(cells)
    yield header
    for row, line in zip(rows, lines, strict=True):
        yield line
        yield f"    {row['words']}{f' ({note})' if (note := row['note']) else ''}"


def _csv_values(row: Row, name_columns: Sequence[str]) -> list[Any]:
    values = {**row, "i": tuple(row["members_i"]), "j": tuple(row["members_j"])}
    return [values[name] for name in (*CSV_COLUMNS, *name_columns)]
