"""Reports where the user looks for them: <reports>/<name>/, whose report.json says which configuration made it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.report_name import changes
from pipeline.store.cache import Result
from pipeline.store.files import PART, file_digest, whole_file
from pipeline.store.listed_files import LISTED, blocked, list_text, listed_files, listed_mark, write_list
from pipeline.store.locks import refuse_what_is_no_lock
from pipeline.text.json_file import read_json
from pipeline.text.own_paths import command_in_report, in_report
from pipeline.text.toml_text import read_toml

TOLD = ("report.json", "referee.json")
"""What says how a page was made; that of the referee only by which command."""
OLDER = "replaces an older report in"
"""Said of what does not say what it is."""
MOST_NAMED = 3
"""Of many damaged files."""


def publish(result: Result, home: Path, config: Config, command: str) -> Iterator[str]:
    """Copy a report to `home`, file by file and each whole, and yield lines to say.

    What an older report left there goes, and where it was one of another configuration, a line says of which; files of
    this one that are no longer as they were copied are named. One process at a time: two stores may publish to one
    folder, and each would take the other's files for leftovers. After a power loss the next run copies again what is
    not whole.
    """
    home.mkdir(parents=True, exist_ok=True)
    with publishing(home):
        files: dict[str, dict[str, Any]] = result.manifest["files"]
        others = [name for name in listed_files(home) if name not in files]  # Panels that were asked for, or older.
        wrong = [name for name, entry in files.items() if not _is_whole(home / name, entry)]
        replaced = _replaced(home, config, command) if wrong else ""
        same = _is_copy(home, result, wrong) and not (replaced and "index.html" in wrong)
        if replaced and (not same or OLDER not in replaced):
            yield replaced
        if same:
            damaged = [*wrong, *([] if _is_listed(home, result, others) else [LISTED])]
            yield from _told([home / name for name in damaged])
        stale = others if wrong and not same else []
        for path in (*(home / name for name in stale), *(path for path in home.rglob(f"{PART}*") if path.is_file())):
            path.unlink(missing_ok=True)
        for name in wrong:
            place = home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place, durable=False) as temporary:
                shutil.copyfile(result.folder / name, temporary)
        _write_list(home, [*files, *(name for name in others if name not in stale)], _mark(result))
    yield f"report   {home / 'index.html'}"


def publishing(home: Path) -> FileLock:
    """Held by the one process that writes to a report's folder. It lies beside it: the folder itself is for people."""
    lock = home.with_name(f".{home.name}.lock")
    refuse_what_is_no_lock(lock)
    return FileLock(lock)


def _is_whole(place: Path, entry: Mapping[str, Any]) -> bool:
    return place.is_file() and place.stat().st_size == entry["bytes"] and file_digest(place) == entry["sha256"]


def _is_copy(home: Path, result: Result, wrong: Collection[str]) -> bool:
    """Whether it was this report that was copied to `home` last, to its end: its list says so, or, if that is the one
    that is damaged, all other files do."""
    return listed_mark(home) == _mark(result) or not wrong


def _is_listed(home: Path, result: Result, others: Sequence[str]) -> bool:
    """Whether the list is as it was written, by this version or by one that set no mark."""
    names, file = [*result.manifest["files"], *others], home / LISTED
    known = (list_text(names, mark).encode() for mark in (_mark(result), ""))
    return file.is_file() and file.read_bytes() in known


def _mark(result: Result) -> str:
    """By which a report is known, of all its bytes."""
    digests = "".join(f"{name} {entry['sha256']}\n" for name, entry in sorted(result.manifest["files"].items()))
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def _told(damaged: Sequence[Path]) -> Iterator[str]:
    """Those that are gone, and those that are there, in a line each."""
    for gone, words in ((True, "missing"), (False, "not as it was published")):
        names = [str(path) for path in damaged if path.exists() != gone]
        if names:
            more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
            is_one = len(names) == 1
            told = words if is_one else words.replace("it was", "they were")
            yield f"{', '.join(names[:MOST_NAMED])}{more} {'is' if is_one else 'are'} {told}: copied again"


def _write_list(home: Path, names: Iterable[str], mark: str) -> None:
    with whole_file(home / LISTED) as temporary:
        write_list(temporary, names, mark)


def refuse_blocked(home: Path) -> None:
    """Where no report can be written at `home`, say so: before a stage has run for hours, not after."""
    problem = blocked(home)
    if problem:
        raise BadInputError(f"{problem}; move it, or set report.name.")
    publishing(home)


def holds(home: Path, result: Result) -> bool:
    """Whether all files of a report are there as they were made."""
    files: dict[str, dict[str, Any]] = result.manifest["files"]
    return all(_is_whole(home / name, entry) for name, entry in files.items())


def holds_page(home: Path, result: Result) -> bool:
    """Whether it is the page of this report that is there."""
    entry = result.manifest["files"]["report.json"]
    return (home / "report.json").is_file() and file_digest(home / "report.json") == entry["sha256"]


def add_to_list(home: Path, names: Iterable[str]) -> None:
    """Files that belong to the report at `home`, so that they go when it goes; whoever adds them is `publishing`."""
    _write_list(home, dict.fromkeys([*listed_files(home), *names]), listed_mark(home))


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
        return f"{OLDER} {home}"
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
