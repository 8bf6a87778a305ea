"""Where files lie on this machine is nobody else's business: the user's home is `~`, and in what is shared of other
places only the last name is told."""

from __future__ import annotations

import os
import re
import shlex
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.text.secrets import in_texts, without_secrets


def without_home(text: str) -> str:
    """`text` with ~ for the user's home, so that what is typed into a shell still works: a quoted path keeps its quotes
    behind the ~, which a shell does not look for inside of them.

    >>> home = Path.home()
    >>> without_home(f"{home}/a.toml"), without_home(f"--store '{home}/my data'"), without_home(f"{home}x")[-1]
    ('~/a.toml', "--store ~/'my data'", 'x')
    """
    for home in _homes(os.environ.get("HOME", "")):
        if home in text:
            quoted, plain = _patterns(home)
            text = plain.sub("~", quoted.sub(r"~/'", text))
    return text


def shareable(value: Any) -> Any:
    """JSON of any form, its texts without secrets and without the user's home; keys of tables stay."""
    return in_texts(value, lambda text: without_home(without_secrets(text)))


def in_report(value: Any) -> Any:
    """The same for what is handed round: of other absolute paths only the last name.

    >>> in_report({"folder": "/mnt/lab/study", "scores": ["trak=/mnt/lab/trak.npy", "lasso"], "url": "http://a/b/c"})
    {'folder': 'study', 'scores': ['trak=trak.npy', 'lasso'], 'url': 'http://a/b/c'}
    """
    return in_texts(value, lambda text: _last_name(without_home(without_secrets(text))))


def command_in_report(command: str) -> str:
    """What a user typed, word for word `in_report`.

    >>> command_in_report("datamodels-inf run --config /mnt/lab/a.toml --set 'source.folder=/mnt/my set'")
    "datamodels-inf run --config a.toml --set 'source.folder=my set'"
    """
    return shlex.join(in_report(word) for word in shlex.split(command))


def _last_name(text: str) -> str:
    """Of an absolute path, alone or behind the = of a setting."""
    name, equals, path = text.rpartition("=")
    quotes = path[:1] if path[:1] in ("'", '"') and path[-1:] == path[:1] else ""
    inner = path[1:-1] if quotes else path
    if not PurePosixPath(inner).is_absolute() or "://" in name:
        return text
    return f"{name}{equals}{quotes}{PurePosixPath(inner).name or '/'}{quotes}"


@cache
def _homes(variable: str) -> tuple[str, ...]:
    """The user's home, by the names that it has, the longest first; none where it is no folder of its own."""
    try:
        known = [Path.home(), Path.home().resolve(), Path(variable or "/")]
    except (OSError, RuntimeError):
        known = [Path(variable or "/")]
    names = {str(path) for path in known if path.is_absolute() and len(path.parts) > 1}
    return tuple(sorted(names, key=len, reverse=True))


@cache
def _patterns(home: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The home that a quoted path begins with, if the quotes are needed, and any other."""
    quoted = re.compile(rf"(?<!\S)'{re.escape(home)}/(?=[^'\n]*(?:[^\w@%+=:,./'\n-][^'\n]*'|'\"))")
    return quoted, re.compile(rf"(?<![\w.~-])(?<!(?<!/)/){re.escape(home)}(?![\w-]|\.\w)")


def too_long(path: str) -> str:
    """What is wrong with a name that no file can have.

    >>> too_long("a" * 300)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… is too long for the name of a file or folder; give a shorter one.'
    """
    return f"{path[:40]}… is too long for the name of a file or folder; give a shorter one."
