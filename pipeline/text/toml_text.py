"""TOML that users write: what Python could read, but nobody means, is one sentence."""

from __future__ import annotations

import tomllib
from typing import Any

DEEPEST = 20
LARGEST = 2**128
"""TOML's whole numbers have 64 bits; Python's have no end, and cannot be printed where they are long. What lies between
is refused by the setting's own name."""


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text; ValueError says what is wrong with it.

    >>> read_toml("[a]\\nb = [1, 2]")
    {'a': {'b': [1, 2]}}
    """
    try:
        found = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    _check(found)
    return found


def _check(found: Any) -> None:
    """Level by level, so that nothing here goes deeper than is allowed."""
    level = [found]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, (dict, list)):
                inner += value.values() if isinstance(value, dict) else value
            elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
                raise ValueError("a whole number in it is too large")
        if not inner:
            return
        level = inner
    raise ValueError("it is nested too deep")
