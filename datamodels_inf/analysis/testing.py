"""The tests of an analysis: which pairs, and what all methods say of them, as one table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.analysis.division import Division
from datamodels_inf.analysis.fitting import Advance, Fitted
from datamodels_inf.analysis.inputs import Data
from datamodels_inf.analysis.items import Items
from datamodels_inf.analysis.settings import Settings
from datamodels_inf.designs.pairs import Pairs, top_pairs
from datamodels_inf.internal.checks import Ints, check_iterable, check_pairs
from datamodels_inf.internal.column_names import column_names
from datamodels_inf.pair_answers import EFFECTS, NOTES, Columns, PairAnswers
from datamodels_inf.targets import Target, prepare_targets

LISTED = "listed"


def draw_top(fitted: Fitted, settings: Settings) -> Pairs:
    """Each target's strongest helpers against hurters, each other and random images, by θ̂ of rows that never test.

    Helpers raise an outcome of which more is better, and lower one of which less is.
    """
    sign = 1.0 if settings.more_is_better else -1.0
    return top_pairs(
        sign * fitted.datamodels[0].weight,
        fitted.targets,
        k=settings.k,
        versus=settings.versus,
        random_partners=settings.random_partners,
        seed=settings.seed,
    ).distinct()


def read_pairs(pairs: Any, items: Items) -> Pairs:
    """(i, j, target) rows: numbers or names; i and j may be two groups of equal size.

    >>> read_pairs([(0, 1, 0), ([2, 3], [4, 5], 0)], Items(6, 1)).sizes.tolist()
    [1, 2]
    """
    left: list[Ints] = []
    right: list[Ints] = []
    targets = []
    for number, row in enumerate(_rows(pairs)):
        if isinstance(row, (str, bytes)) or not isinstance(row, Collection) or len(row) != 3:
            raise ValueError(f"`pairs` must hold (i, j, target) in each row, but row {number} is {row!r}.")
        i, j, target = row
        groups = [_group(side, items) for side in (i, j)]
        if len(groups[0]) != len(groups[1]):
            raise ValueError(f"`pairs` must swap groups of equal size, but row {number} has {row!r}.")
        check_pairs(np.stack(groups)[None], items.n_train, name=f"i and j of row {number} of `pairs`")
        left.append(groups[0])
        right.append(groups[1])
        targets.append(items.find("target", target))
    if not targets:
        raise ValueError("`pairs` must hold at least one (i, j, target).")
    bounds = np.concatenate([[0], np.cumsum([len(group) for group in left])])
    kind = np.zeros(len(targets), np.int8)
    listed = Pairs(np.concatenate(left), np.concatenate(right), bounds, np.array(targets, np.int64), kind, (LISTED,))
    return listed.distinct()


def _rows(pairs: Any) -> list[Any]:
    """(i, j, target) each; a table may have its columns in any order, for they are taken by name."""
    names = column_names(pairs)
    if names is not None and names != ("0", "1", "2"):  # Those of a table without names.
        missing = [name for name in ("i", "j", "target") if name not in names]
        if missing:
            raise ValueError(f"`pairs` must have the columns i, j and target, but it has no {missing[0]!r}.")
        return list(zip(*(pairs[name].tolist() for name in ("i", "j", "target")), strict=True))
    given = pairs.tolist() if isinstance(pairs, np.ndarray) else getattr(pairs, "values", pairs)
    return list(check_iterable("pairs", given, "rows of (i, j, target)"))


def _group(side: Any, items: Items) -> Ints:
    members = [side] if isinstance(side, str) or np.ndim(side) == 0 else list(side)
    return np.array([items.find("train", member) for member in members], np.int64)


def tested_blocks(
    data: Data, division: Division, fitted: Fitted, targets: Ints, threads: int = 1
) -> Iterator[tuple[Target, ...]]:
    """Of each of `targets` its blocks of tested rows, each with the datamodel that may test it."""
    places = fitted.places(targets)
    blocks = [
        prepare_targets(
            data.masks.rows(*rows), data.outcomes_of(rows, targets), datamodel.subset(places), threads=threads
        )
        for rows, datamodel in zip(division.blocks, fitted.datamodels, strict=True)
    ]
    return zip(*blocks, strict=True)


def run_tests(
    pairs: Pairs, answers: PairAnswers, data: Data, division: Division, fitted: Fitted, advance: Advance
) -> Columns:
    """The columns of all pairs, which are sorted by target; `advance` is told how many are done, target by target."""
    columns = answers.empty(len(pairs))
    targets, first = np.unique(pairs.target, return_index=True)
    bounds = np.append(first, len(pairs))
    weights = fitted.datamodel.weight[:, fitted.places(targets)]
    for k, blocks in enumerate(tested_blocks(data, division, fitted, targets, answers.threads)):
        tests = np.arange(bounds[k], bounds[k + 1])
        theta = weights[:, k].astype(np.float64)
        for name, values in answers.of_tests(pairs, tests, blocks, theta).items():
            columns[name][tests] = values
        advance(len(tests))
    return columns


def as_table(pairs: Pairs, columns: Columns, methods: Sequence[str], items: Items) -> dict[str, NDArray[Any]]:
    """One row per method and pair: the methods one after the other, each with all pairs in the order of the design."""
    repeat, n = len(methods), len(pairs)
    shared = {
        "i": pairs.i,
        "j": pairs.j,
        "target": pairs.target,
        **{name: columns[name] for name in ("theta_i", "theta_j", *EFFECTS, "n_informative")},
        "class_i": _classes(pairs.left, pairs, "train", items),
        "class_j": _classes(pairs.right, pairs, "train", items),
        "class_target": np.array([items.class_of("target", target) for target in pairs.target.tolist()], object),
        "members_i": _members(pairs.left, pairs),
        "members_j": _members(pairs.right, pairs),
    }
    table = {name: np.concatenate([values] * repeat) for name, values in shared.items()}
    table["method"] = np.repeat(np.array(methods, object), n)
    for name in ("statistic", "pvalue"):
        table[name] = np.concatenate([columns[f"{name} {method}"] for method in methods])
    notes = np.concatenate([columns[f"note {method}"] for method in methods])
    table["note"] = np.array(NOTES, object)[notes]
    return table


def _members(side: Ints, pairs: Pairs) -> NDArray[Any]:
    members = np.empty(len(pairs), object)
    for p in range(len(pairs)):
        members[p] = tuple(side[pairs.bounds[p] : pairs.bounds[p + 1]].tolist())
    return members


def _classes(side: Ints, pairs: Pairs, part: str, items: Items) -> NDArray[Any]:
    """The class of each side; empty where it is not known, or the members of a group are of several."""
    names = [items.class_of(part, image) for image in side.tolist()]
    groups = (set(names[start:stop]) for start, stop in zip(pairs.bounds[:-1], pairs.bounds[1:], strict=True))
    return np.array([group.pop() if len(group) == 1 else "" for group in groups], object)
