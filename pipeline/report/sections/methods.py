"""The methods side by side: how many findings each has, and how many two of them share."""

from __future__ import annotations

import numpy as np

from pipeline.report.groups import Group
from pipeline.report.page import Page
from pipeline.report.sections.base import Section, Variables, titled
from pipeline.text.csv_columns import list_texts


def data(page: Page) -> Variables | None:
    """Each method with the findings that it shares with each of the methods, in their order."""
    if not page.several:
        return None
    shared = [[n_shared(own.group, other.group) for other in page.methods] for own in page.methods]
    return {"compared": list(zip(page.methods, shared, strict=True))}


def n_shared(first: Group, second: Group) -> int:
    """Findings of both. The methods of a run have the same tests in the same order; else pairs are told by name."""
    if len(first) == len(second) and all(_same(first, second, name) for name in ("i", "j", "target")):
        return int(np.count_nonzero(first.added["finding"] & second.added["finding"]))
    return len(_pairs(first) & _pairs(second))


def _same(first: Group, second: Group, name: str) -> bool:
    return np.array_equal(first.columns.column(name), second.columns.column(name))


def _pairs(group: Group) -> set[tuple[int, str, str]]:
    """Target and images of each finding."""
    found = group.columns.take(group.places)
    sides = (list_texts(found[name].combine_chunks()).to_pylist() for name in ("members_i", "members_j"))
    return set(zip(found["target"].to_pylist(), *sides, strict=True))


SECTION = Section("methods", data, inside="diagnostics", title=titled("Methods side by side"))
