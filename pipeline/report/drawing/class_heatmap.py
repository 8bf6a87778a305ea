"""How many tests and findings there are for each pair of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.groups import Group

MOST_CLASSES = 20
SHADES = 5


@dataclass(frozen=True)
class Cell:
    """Tests and findings of one pair of classes; shade: 0 for no finding, to 5 for the largest share of findings."""

    tests: int
    found: int
    shade: int


@dataclass(frozen=True)
class Heatmap:
    """cells[a][b]: image i of class classes[a], image j of class classes[b].

    uniform: the number of tests in every cell that has any, or None where they differ. left_out: classes not shown.
    """

    classes: list[str]
    cells: list[list[Cell]]
    uniform: int | None
    left_out: int


def heatmap_of(group: Group, class_names: Sequence[str]) -> Heatmap | None:
    """Of the tests of one method; None if there is only one class or none. With many classes, those with the most
    findings, then those with the most tests."""
    tests = Counter({pair: count for pair, (count, _) in group.class_counts.items()})
    found = Counter({pair: count for pair, (_, count) in group.class_counts.items()})
    order = list(dict.fromkeys([*class_names, *(name for pair in tests for name in pair)]))
    used = [name for name in order if any(name in pair for pair in tests)]
    if len(used) < 2:
        return None
    kept = sorted(used, key=lambda name: (-_involved(found, name), -_involved(tests, name)))[:MOST_CLASSES]
    classes = [name for name in used if name in kept]
    counts = {(a, b): (tests[a, b], found[a, b]) for a in classes for b in classes}
    highest = max((f / t for t, f in counts.values() if t), default=0.0)
    sizes = {t for t, _ in counts.values() if t}
    cells = [[_cell(*counts[a, b], highest) for b in classes] for a in classes]
    return Heatmap(classes, cells, sizes.pop() if len(sizes) == 1 else None, len(used) - len(classes))


def _involved(counts: Counter[tuple[str, str]], name: str) -> int:
    return sum(count for pair, count in counts.items() if name in pair)


def _cell(tests: int, found: int, highest: float) -> Cell:
    shade = 0 if not found else max(1, round(SHADES * (found / tests) / highest))
    return Cell(tests, found, shade)
