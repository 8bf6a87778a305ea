"""Reports where the user looks for them: <reports>/<name>/, whose report.json says which configuration made it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.report_name import changes
from pipeline.store.cache import Result
from pipeline.store.files import PART, file_digest, whole_file
from pipeline.store.listed_files import LISTED, blocked, listed_files, write_list
from pipeline.text.json_file import read_json
from pipeline.text.own_paths import command_in_report, in_report
from pipeline.text.toml_text import read_toml

TOLD = ("report.json", "referee.json")
"""What says how a page was made; that of the referee only by which command."""


def publish(result: Result, home: Path, config: Config, command: str) -> Iterator[str]:
    """Copy a report to `home`, file by file and each whole, and yield lines to say.

    What an older report left there goes, and where it was one of another configuration, a line says of which. One
    process at a time: two stores may publish to one folder, and each would take the other's files for leftovers. After
    a power loss the next run copies again what is not whole.
    """
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home.with_name(f".{home.name}.lock")):  # Beside it: the folder itself is for people.
        same = holds(home, result)
        replaced = "" if same else _replaced(home, config, command)
        if replaced:
            yield replaced
        files: dict[str, dict[str, Any]] = result.manifest["files"]
        others = [
            name for name in listed_files(home) if name not in files
        ]  # Panels that were asked for, or an older page.
        stale = [] if same else others
        for path in (*(home / name for name in stale), *(path for path in home.rglob(f"{PART}*") if path.is_file())):
            path.unlink(missing_ok=True)
        for name, entry in files.items():
            place = home / name
            if place.is_file() and file_digest(place) == entry["sha256"]:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place, durable=False) as temporary:
                shutil.copyfile(result.folder / name, temporary)
        with whole_file(home / LISTED) as temporary:
            write_list(temporary, [*files, *(others if same else ())])
    yield f"report   {home / 'index.html'}"


def refuse_blocked(home: Path) -> None:
    """Where no report can be written at `home`, say so: before a stage has run for hours, not after."""
    problem = blocked(home)
    if problem:
        raise BadInputError(f"{problem}; move it, or set report.name.")


def holds(home: Path, result: Result) -> bool:
    """Whether all files of a report are there as they were made."""
    files: dict[str, dict[str, Any]] = result.manifest["files"]
    sizes = all((home / name).is_file() and (home / name).stat().st_size == e["bytes"] for name, e in files.items())
    return sizes and all(file_digest(home / name) == entry["sha256"] for name, entry in files.items())


def holds_page(home: Path, result: Result) -> bool:
    """Whether it is the page of this report that is there."""
    entry = result.manifest["files"]["report.json"]
    return (home / "report.json").is_file() and file_digest(home / "report.json") == entry["sha256"]


def add_to_list(home: Path, names: Iterable[str]) -> None:
    """Files that belong to the report at `home`, so that they go when it goes."""
    listed = listed_files(home)
    with whole_file(home / LISTED) as temporary:
        write_list(temporary, dict.fromkeys([*listed, *names]))


def unpublished(home: Path, result: Result, config: Config, command: str) -> str:
    """Of a report that is in the store: why `run` copies it to `home` all the same; nothing if it is there."""
    if holds(home, result):
        return ""
    if _replaced(home, config, command):
        return f"{home} holds another one; run publishes it again"
    there = (home / "index.html").is_file()
    return f"{home} holds {'an older one' if there else 'none'}; run publishes it{' again' if there else ''}"


def _replaced(home: Path, config: Config, command: str) -> str:
    """A sentence, if the report at `home` is not one of this configuration."""
    if not (home / "index.html").is_file():
        return ""
    try:
        file = next(home / name for name in TOLD if (home / name).is_file())
        told = read_json(file)
        made_by = str(told["provenance"].get("Command", ""))
        by_command = file.name == "referee.json"
        same = _is_by(made_by, command) if by_command else _is_of(told["configuration"], config)
    except (BadInputError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
        return f"replaces an older report in {home}"
    if same:
        return ""
    return (
        f"replaces the report of: {made_by}" if made_by else f"replaces the report of another configuration in {home}"
    )


def _is_of(configuration: str, config: Config) -> bool:
    """Whether a printed configuration makes the same report."""
    made_by = Config.model_validate(read_toml(configuration))
    return not changes(in_report(made_by.model_dump(mode="json")), in_report(config.model_dump(mode="json")))


def _is_by(made_by: str, command: str) -> bool:
    """Whether a report's command is this one, as far as reports tell it."""
    return command_in_report(made_by) == command_in_report(command)
