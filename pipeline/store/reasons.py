"""Why a stage has no result yet: what is different from an earlier one that a user would compare it with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_CHANGES = 4
NEW = "not run before"
CLOSE = 2
"""A result of another configuration is compared with if it was made from the same inputs, differs in no more, and in
nothing whose content alone tells it apart: a checksum that differs is another set of models, not a changed setting."""

UNREADABLE = " changed"
"""Said of what has no words of its own, such as a checksum."""

LONGEST = 40
ASIDE = ("report.name", "report.title")
"""Follow what else was changed."""

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What a stage's result would be made from, and for which configuration ("" if that is not known)."""

    version: int
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    origin: str = ""


def why_new(wanted: Wanted, earlier: Sequence[Manifest]) -> str:
    """ "test.repeats: 20 → 30", against the nearest of the earlier results, the newest last, that are comparable.

    These are results of the same configuration; where there is none, those of others that differ in next to nothing.
    """
    own = [manifest for manifest in earlier if manifest.get("origin") == wanted.origin]
    others = [manifest for manifest in earlier if manifest["inputs"] == dict(wanted.inputs)]
    close = [changes for manifest in others if _is_close(changes := _differences(manifest, wanted))]
    differences = [_differences(manifest, wanted) for manifest in own] or close
    if not differences:
        return NEW
    nearest = min(reversed(differences), key=len)
    more = [f"and {len(nearest) - MOST_CHANGES} more changes"] if len(nearest) > MOST_CHANGES + 1 else []
    return "; ".join([*(nearest[:MOST_CHANGES] if more else nearest), *more]) or "its result is missing"


def _is_close(changes: Sequence[str]) -> bool:
    return len(changes) <= CLOSE and not any(change.endswith(UNREADABLE) for change in changes)


def _differences(manifest: Manifest, wanted: Wanted) -> list[str]:
    changes = []
    if manifest["version"] != wanted.version:
        changes.append(f"code version: {manifest['version']} → {wanted.version}")
    before, after = manifest["settings"], json.loads(json.dumps(dict(wanted.settings)))
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    telling = [name for name in names if name not in ASIDE] or names
    for name in telling:
        changes += _change(name, before.get(name), after.get(name))
    changes += [f"{name}{UNREADABLE}" for name in wanted.inputs if manifest["inputs"].get(name) != wanted.inputs[name]]
    return changes


def _change(name: str, old: Any, new: Any) -> Iterator[str]:
    """ "name: old → new", of a table only the entries that differ; long numbers and texts say nothing by themselves."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if old.get(key) != new.get(key):
                yield from _change(f"{name}, {key}", old.get(key), new.get(key))
        return
    words = readable(old), readable(new)
    yield f"{name}{UNREADABLE}" if None in words else f"{name}: {words[0]} → {words[1]}"


def readable(value: Any) -> str | None:
    """A setting as one would say it; None for what says nothing, such as a checksum, or would have to be cut.

    >>> readable(["swap", "paired"]), readable(None), readable(0.1), readable("0f" * 32)
    ('swap, paired', 'unset', '0.1', None)
    """
    if isinstance(value, dict):
        return None
    if value is None or value == "" or value == []:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    texts = [readable(item) for item in value] if isinstance(value, list) else [str(value)]
    if None in texts or any(re.fullmatch("[0-9a-f]{16,}", str(text)) for text in texts):
        return None
    text = ", ".join(map(str, texts))
    return text if len(text) <= LONGEST else None
