"""Columns by name: of a table that knows its columns (a DataFrame), or by names that are given; without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from datamodels_inf.internal.checks import Index, some_of

Names: TypeAlias = Sequence[str] | None
NamedIndex: TypeAlias = Index | str | Sequence[str]


def column_names(x: Any) -> tuple[str, ...] | None:
    """What the columns of a table are called; None for an array, whose columns have numbers only."""
    columns = getattr(x, "columns", None)
    if columns is None or callable(columns):  # PackedMasks have a method of that name.
        return None
    return tuple(str(name) for name in columns)


def names_of(x: Any, names: Names, d: int | None = None) -> tuple[str, ...] | None:
    """`names` if they are given, one a column; else those of the table itself."""
    if names is None:
        return column_names(x)
    if isinstance(names, str) or (d is not None and len(names) != d):
        wanted = "a sequence of texts" if d is None else f"{d} texts, one a column"
        raise ValueError(f"`names` must be {wanted}, but it is {names!r}.")
    return tuple(str(name) for name in names)


def find_column(name: str, names: Names, what: str = "column") -> int:
    """The place of a name.

    >>> find_column("bmi", ("age", "bmi"))
    1
    """
    if names is None:
        raise ValueError(f"{name!r} names a {what}, but no names are known; give `names`, a DataFrame, or its number.")
    places = [place for place, own in enumerate(names) if own == name]
    if len(places) > 1:
        raise ValueError(f"{name!r} is the name of {what}s {some_of(places)}; give its number.")
    if not places:
        near = get_close_matches(name, list(names), n=1)
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else f"there are {', '.join(map(repr, list(names)[:5]))}" + (" and others." if len(names) > 5 else ".")
        )
        raise ValueError(f"there is no {what} {name!r}; {hint}")
    return places[0]


def as_index(index: Any, names: Names) -> Index:
    """Numbers of columns, of numbers or names; anything else is left to the checks of numbers."""
    if isinstance(index, str):
        return find_column(index, names)
    if not isinstance(index, (list, tuple, np.ndarray)) or np.ndim(index) != 1:
        return index  # type: ignore[no-any-return]
    group = index.tolist() if isinstance(index, np.ndarray) else list(index)
    if not any(isinstance(one, str) for one in group):
        return index
    return np.array([find_column(one, names) if isinstance(one, str) else one for one in group])


def as_pairs(pairs: ArrayLike, names: Names) -> ArrayLike:
    """The same of (P, 2) or (P, 2, g) pairs of names."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        return pairs
    if array.dtype.kind not in "UT":
        return pairs
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    return np.array([find_column(name, names) for name in array.ravel().tolist()], np.int64).reshape(array.shape)
