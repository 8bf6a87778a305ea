"""`python -m pipeline.completion.write_names`: the file of `known_names`, from the models and tables themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pipeline.commands.definitions import COMMANDS
from pipeline.completion.known_names import FILE, PATH, Values
from pipeline.config import Config
from pipeline.options import OneOf


def made() -> str:
    """What the file must hold."""
    settings = {
        f"{section}.{key}": values_of(field.annotation)
        for section, model in Config.model_fields.items()
        for key, field in getattr(model.annotation, "model_fields", {}).items()
    }
    lines = (json.dumps(key) + ": " + json.dumps(values) for key, values in settings.items())
    tables = (json.dumps(key) + ": " + json.dumps(names) for key, names in _tables().items())
    return f'{{"settings": {{\n{_joined(lines)}\n}},\n"tables": {{\n{_joined(tables)}\n}}}}\n'


def _joined(lines: Any) -> str:
    return ",\n".join(lines)  # A line each, so that a difference shows what was added.


def _tables() -> dict[str, list[str]]:
    """The names that options take of tables."""
    types = (parameter.type for command in COMMANDS.values() for parameter in command.params)
    return {kind.table: list(kind.names()) for kind in types if isinstance(kind, OneOf)}


def values_of(annotation: Any) -> Values:
    """Of a type: all values if it is a closed set of them, alone, in a list or beside None; PATH; else []."""
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    if annotation is bool:
        return ["true", "false"]
    if annotation is Path:
        return PATH
    return next((found for part in get_args(annotation) if (found := values_of(part))), [])


if __name__ == "__main__":
    FILE.write_text(made(), encoding="utf-8")
