"""Settings and names of tables, as written down beside this file: the models and tables take a second to import.

`python -m pipeline.completion.write_names` writes the file anew; a test fails where it is out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

FILE = Path(__file__).with_suffix(".json")
PATH = "path"
"""Of a setting: a file or folder."""
Values: TypeAlias = list[str] | str


def known_settings() -> dict[str, Values]:
    """{"test.method": its closed set of values}; [] where any value may be, PATH for files."""
    settings: dict[str, Values] = _read()["settings"]
    return settings


def known_names(table: str) -> list[str]:
    """The names of a table, such as "methods"; none of one that is not known."""
    names: list[str] = _read()["tables"].get(table, [])
    return names


def _read() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known
