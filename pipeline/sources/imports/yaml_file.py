"""YAML files of other tools: plain values only, nothing is constructed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError
from pipeline.text.json_file import read_text

DEEPEST = 20
LONGEST_PLAIN = 1000
"""Characters of a number or another word without quotes: some of YAML's forms take the square of it to read."""


def read_yaml(path: Path) -> Any:
    """Lists, tables, numbers and texts."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # In C where it was built: lists here are long.
    try:
        text = read_text(path)
        _check(yaml, text, loader)
        return yaml.load(text, Loader=loader)
    except Exception as error:  # A date such as 2024-99-99, a number of many digits, a tag: each fails in its own way.
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise BadInputError(f"{path} is not plain YAML ({reason}).") from error


def _check(yaml: Any, text: str, loader: Any) -> None:
    """Before anything is made of it: aliases say in a few bytes what fills any memory, and nesting any stack."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it uses aliases; write its lists out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.ScalarEvent) and event.style is None and len(event.value) > LONGEST_PLAIN:
            raise ValueError("a number or word in it is too long")
        if depth > DEEPEST:
            raise ValueError("it is nested too deep")
