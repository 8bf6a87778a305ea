"""What a report is called: by its configuration's file, and by what `--set` changed in it.

A report of `--config digits --set test.alpha=0.1` is another one than that of `--config digits`, and goes to another
folder: `digits-alpha-0.1`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, TypeAlias

NUMBER = re.compile(r"[0-9.]+(e[0-9]+)?")
Settings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Section → key → value, as JSON."""

ASIDE = ("train", "robustness", "verify", "referee", "report", "cluster")
"""Sections that make no other report of a configuration: how its set was made, what is held against its findings, how
it is shown, and where the work is done."""

SAME_RESULT = ("fit.memory_gb", "test.chunk_pairs", "source.mirrors")
"""Settings that change no number of a report."""

DATA = ("kind", "set", "folder", "percent", "bucket", "prefix", "endpoint_url", "masks_url", "margins_url")
"""Keys of `[source]` that say which data a report is about."""

TEXTS = ("target_class",)
"""Keys whose value is a text even where it looks like a number, so that the two are not mistaken."""

LONGEST, LONGEST_NAME = 60, 100
"""Of the part that a file or its changes give, and of the whole name."""


def name_of_file(stem: str) -> str:
    """A name that a folder may have, from that of a file.

    >>> name_of_file("my study (2)"), name_of_file("Δ")
    ('my-study-2', 'report')
    """
    return _plain(stem)[:LONGEST].strip("-._") or "report"


def changes(before: Settings, after: Settings) -> dict[str, Any]:
    """ "section.key" → new value, of what differs in the sections that make another report; in the order of `after`."""
    return {
        f"{section}.{key}": value
        for section, values in after.items()
        if section not in ASIDE
        for key, value in values.items()
        if f"{section}.{key}" not in SAME_RESULT and before.get(section, {}).get(key, ...) != value
    }


def about_other_data(changed: Mapping[str, Any]) -> bool:
    """Whether what was changed says where masks and margins come from: a title about the former data is not true."""
    return any(f"source.{key}" in changed for key in DATA)


def variation(changed: Mapping[str, Any], after: Settings) -> str:
    """Changed settings in a folder's name: keys with their values, and a section where another one has the same key.

    A few letters of a hash follow where a name is cut, or where different values would look the same.

    >>> settings = {"fit": {"targets": "needed"}, "test": {"alpha": 0.1, "targets": [3, 7]}}
    >>> variation({"test.alpha": 0.1, "test.targets": [3, 7]}, settings)
    'alpha-0.1-test-targets-3-7'
    """
    keys = Counter(key for section, values in after.items() if section not in ASIDE for key in values)
    words, whole = [], True
    for name, value in changed.items():
        if (name, value) == ("source.kind", "files") and "source.folder" in changed:
            continue  # The folder says it.
        section, _, key = name.partition(".")
        text, kept = _value_words(key if keys[key] == 1 else f"{section}-{key}", value)
        words.append(text)
        whole = whole and kept
    text = "-".join(words)
    if whole and len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()[:6]
    return f"{text[: LONGEST - 7].strip('-._')}-{digest}"


def _value_words(key: str, value: Any) -> tuple[str, bool]:
    """ "alpha-0.1", and whether nothing of the value was lost."""
    if value is None or value is False:
        return f"no-{key}", True
    if value is True:
        return key, True
    values = value if isinstance(value, list) else [value]
    texts = [f"{item:g}" if isinstance(item, float) else str(item) for item in values]
    exact = [_is_exact(key, item, text) for item, text in zip(values, texts, strict=True)]
    plain = [_plain(PurePath(text).name) for text in texts]
    return "-".join([key, *filter(None, plain)]), plain == texts and all(exact)


def _is_exact(key: str, item: Any, text: str) -> bool:
    """Whether nothing else has this text: "1-2" looks like a list, and "3" like a number."""
    if isinstance(item, str):
        return "-" not in item and (key in TEXTS or not NUMBER.fullmatch(item))
    return not isinstance(item, float) or float(text) == item


def joined(name: str, slug: str) -> str:
    """A name and what is varied; of a long name the beginning, with a few letters of a hash.

    >>> joined("digits", "alpha-0.1"), len(joined("x" * 99, "alpha-0.1"))
    ('digits-alpha-0.1', 100)
    """
    if len(name) + 1 + len(slug) <= LONGEST_NAME:
        return f"{name}-{slug}"
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - len(slug) - 8]}-{digest}-{slug}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-")
