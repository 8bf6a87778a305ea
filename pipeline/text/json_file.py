"""Text and JSON that others wrote: whatever is wrong with it is one sentence, and its size is known to be bearable
before it is read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from pipeline.errors import BadInputError
from pipeline.text.numbers import human_bytes

MOST_BYTES = 512 * 10**6
"""Of a text that is read whole: its numbers and lists take some ten times as much memory."""


def read_text(path: Path) -> str:
    """The text of a file; ValueError where it is none, or too long for one. What is no plain file may have no end."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1) if path.stat().st_size > MOST_BYTES or not path.is_file() else file.read()
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {human_bytes(MOST_BYTES)}")
    return content.decode("utf-8")


def read_json(path: Path) -> Any:
    """The content of a file, of any form; a `BadInputError` where it is no JSON.

    Lists within lists by the thousand end Python's recursion, and numbers of thousands of digits are a ValueError.
    """
    try:
        return parse_json(read_text(path))
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} is not valid JSON ({' '.join(str(error).split())[:120]}).") from error


def parse_json(text: str | bytes) -> Any:
    """What a text says; ValueError where it is no JSON, which has neither NaN nor infinity.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def without_nan(value: Any) -> Any:
    """Dictionaries and lists with None for NaN and infinity, which JSON has not.

    >>> without_nan({"p": [0.5, float("nan")]})
    {'p': [0.5, None]}
    """
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON's")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number in it is too large")
    return value
