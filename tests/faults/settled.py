"""What a folder holds when all is done, to be held against an undisturbed one; and what should be gone."""

import re
import shutil
from pathlib import Path

from same_results import contents

HOMES = ("data", "reports", "set")
"""A store, the reports and a set that was trained, in the folder of a scenario."""
NOTES = re.compile(r"(^|/)(\.lock|\.lock-holder|\.[^/]*\.lock|mtime|\.hashed\.json|lock|object\.json|rows\.jsonl)$")
"""What processes note for each other, with times; what a mirror is of, and in which order its rows came: no result."""
STRAY = re.compile(r"(^|/)(\.tmp-|\.part-|\.work-|\.parts(/|$)|[^/]*\.part$)")
"""What only a killed process leaves, and the next one removes."""


def settled(folder):
    """{name: content} of all results."""
    found = {}
    for home in HOMES:
        if (folder / home).is_dir():
            found |= {f"{home}/{name}": content for name, content in contents(folder / home).items()}
    return {name: content for name, content in found.items() if not NOTES.search(name) and not STRAY.search(name)}


def strays(folder, shards=()):
    """Names that should be gone; the parts of shards stay, since `merge` may want them again."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(name for name in names if STRAY.search(_below_parts(name, shards)))


def _below_parts(name, shards):
    home, _, rest = name.partition("/")
    return rest.removeprefix(".parts") if home in shards else name


def difference(folder, expected, shards=()):
    """In a few words how a folder differs from what it should hold; nothing if it does not."""
    try:
        found = settled(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"a result cannot be read ({type(error).__name__}: {error})"
    missing, extra = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    other = sorted(name for name in expected.keys() & found.keys() if expected[name] != found[name])
    told = [f"{word} {', '.join(names[:3])}" for word, names in
            (("missing:", missing), ("too much:", extra), ("other bytes:", other)) if names]  # fmt: skip
    if left := strays(folder, shards):
        told.append(f"left behind: {', '.join(left[:3])}")
    return "; ".join(told)


def copied(folder, place):
    """A copy with its time stamps, at `place`."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, symlinks=True)
    return Path(place)
