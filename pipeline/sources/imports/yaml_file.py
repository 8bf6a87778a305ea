"""YAML files of other tools: plain values only, nothing is constructed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError


def read_yaml(path: Path) -> Any:
    """Lists, tables, numbers and texts."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # In C where it was built: lists here are long.
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except Exception as error:  # A date such as 2024-99-99, a number of many digits, a tag: each fails in its own way.
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise BadInputError(f"{path} is not plain YAML ({reason}).") from error
