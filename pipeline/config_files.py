"""Configurations as files: TOML is found, read, overridden, checked against the models of `config`, and written.

Unknown keys and impossible values are refused by name.
"""

from __future__ import annotations

import copy
import difflib
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.config import Config, Report, Source
from pipeline.errors import BadInputError
from pipeline.named_configs import named_configs
from pipeline.report_name import about_other_data, changes, joined, name_of_file, variation
from pipeline.settings.base import expanded
from pipeline.sources import SOURCES
from pipeline.text.json_file import read_text
from pipeline.text.secrets import in_texts, without_secrets
from pipeline.text.toml_text import read_toml

LONGEST_VALUE = 400
NO_CLASSES = "top"
"""The design where there are no labels and none is chosen."""


def load_config(name_or_path: str, overrides: Sequence[str]) -> Config:
    """A named configuration or a TOML file, with `section.key=value` overrides applied; `section.key=` unsets one.

    The report of a configuration without a name for it is called by the file, and that of a variation also by what
    the overrides change, unless they name it.
    """
    path = find_config(name_or_path)
    try:
        written = read_toml(read_text(path))
    except (OSError, ValueError) as error:
        raise BadInputError(f"the configuration {path} is not valid TOML: {str(error).rstrip('.')}.") from error
    data = copy.deepcopy(written)
    for override in overrides:
        _apply(data, override)
    chosen = _choose_design(data)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise BadInputError(f"configuration {name_or_path}: {_sentence(error)}") from error
    if chosen:
        config.test.model_fields_set.discard("design")  # As of every default: nobody wrote it.
    asked = {override.partition("=")[0].strip() for override in overrides}
    return _with_named_report(config, path, written, asked)


def _with_named_report(config: Config, path: Path, written: dict[str, Any], asked: Collection[str]) -> Config:
    """The same, its report called by the file `path` and by what the settings `asked` for change in `written`."""
    report: dict[str, str] = {}
    if "name" not in config.report.model_fields_set:
        report["name"] = name_of_file(path.stem)
    changed = _changed(config, written, asked)
    if changed and ("report.name" not in asked or "name" in report):
        slug = variation(changed, config.model_dump(mode="json"))
        report["name"] = joined(report.get("name", config.report.name), slug)
    if about_other_data(changed) and "report.title" not in asked:
        report["title"] = Report().title
    return config.model_copy(update={"report": config.report.model_copy(update=report)}) if report else config


def _changed(config: Config, written: dict[str, Any], asked: Collection[str]) -> dict[str, Any]:
    """Settings that overrides changed in a way that makes another report; all they name, if they made it whole."""
    after, written = in_texts(config.model_dump(mode="json")), copy.deepcopy(written)
    _choose_design(written)
    try:
        return changes(in_texts(Config.model_validate(written).model_dump(mode="json")), after)
    except ValidationError:
        return {name: value for name, value in changes({}, after).items() if name in asked}


BY_CLASS = ("design", "target_class", "repeats")
"""Settings of `[test]` any of which says that a design was chosen."""


def _choose_design(data: dict[str, Any]) -> bool:
    """Where no design is chosen and there are no classes to draw by: the strongest images of every target.

    It stands in the configuration from here on, and so in the keys of all stages. Whether it was so.
    """
    test, given = data.get("test", {}), data.get("source", {})
    if not isinstance(test, dict) or any(name in test for name in BY_CLASS):
        return False
    try:
        source = Source.model_validate(given)
        labelled = SOURCES[source.kind].labelled(source)
    except (ValidationError, BadInputError):
        return False  # What is wrong with the source is said where it is read.
    if not labelled:
        data["test"] = {"design": NO_CLASSES, "targets": "all", **test}
    return not labelled


def find_config(name_or_path: str) -> Path:
    """The file of a named configuration, or the TOML file that a path names."""
    path = expanded(Path(name_or_path))
    if path.suffix == ".toml" or "/" in name_or_path:
        if not path.is_file():
            raise BadInputError(f"--config {name_or_path}: there is no such file.")
        return path
    named = named_configs()
    if name_or_path not in named:
        known = ", ".join(sorted(named))
        near = _nearest(name_or_path, named)
        raise BadInputError(
            f"--config {name_or_path}: no configuration of that name{near}; there are {known}, or give a path."
        )
    return named[name_or_path]


def to_toml(config: Config, without: Collection[str] = (), change: Callable[[Any], Any] = lambda value: value) -> str:
    """The effective configuration, as TOML that reads back to the same; settings that are unset are left out.

    without: sections that are left out as well. change: of values, for what others may see.
    """
    lines: list[str] = []
    for section, values in change(config.model_dump(mode="json", exclude=set(without))).items():
        lines += [f"[{section}]", *(f"{k} = {literal(v)}" for k, v in values.items() if v is not None), ""]
    return "\n".join(lines)


def literal(value: Any) -> str:
    """A setting as TOML writes it, also in a `section.key=value` override."""
    import json

    if isinstance(value, dict):
        pairs = (f"{literal(str(key))} = {literal(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    text = json.dumps(value, ensure_ascii=False)  # Of strings, numbers and booleans, TOML's own form,
    return text.replace("\x7f", "\\u007f")  # but for this one character, which TOML does not allow.


def _apply(data: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise BadInputError(f"--set {_cut(override)}: give it as section.key=value.")
    if len(override.splitlines()) > 1:  # TOML would read further settings there.
        raise BadInputError(f"--set {_cut(name.strip())}: a value stands on one line; give one --set for each setting.")
    table = data.setdefault(section, {})
    if not isinstance(table, dict):
        raise BadInputError(f"--set {_cut(override)}: {_cut(section)} is not a section.")
    if text.strip():
        try:
            table[key] = _value(text.strip())
        except ValueError as error:
            raise BadInputError(f"--set {_cut(name.strip())}: its value cannot be read ({error}).") from error
    else:
        table.pop(key, None)


def _value(text: str) -> Any:
    """A TOML value; what is none is taken as a string."""
    try:
        return read_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _sentence(error: ValidationError) -> str:
    """The first problem: the key's name, what is wrong, and what is allowed."""
    problem = error.errors()[0]
    key = _cut(".".join(str(part) for part in problem["loc"]))
    if problem["type"] == "extra_forbidden":
        names = _names(problem["loc"])
        return f"{key} is not a setting{_nearest(str(problem['loc'][-1]), names)}; allowed are {', '.join(names)}."
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return f"{_cut(message)}."
    return f"{key} = {_cut(repr(problem['input']))}: {message[0].lower()}{message[1:]}."


def _cut(text: str) -> str:
    """Of a value that somebody wrote, its beginning and its end: a sentence is to be read. Secrets go first: of an
    address that was cut, nobody can tell any more what is one."""
    text = without_secrets(text)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE // 2]}…{text[-LONGEST_VALUE // 2 :]}"


def _nearest(name: str, names: Iterable[str]) -> str:
    """ " (did you mean test?)", if one looks like it."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _names(location: Sequence[int | str]) -> list[str]:
    """All settings of the section of one."""
    model: type[BaseModel] = Config
    for part in location[:-1]:
        model = _section_type(model.model_fields, str(part))
    return list(model.model_fields)


def _section_type(fields: Mapping[str, Any], name: str) -> type[BaseModel]:
    section: type[BaseModel] = fields[name].annotation
    return section
