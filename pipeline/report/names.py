"""What images and classes are called, safe inside a sentence whatever they are called."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from pipeline.text.given_names import LONGEST_NAME

SHOWN_MEMBERS = 3  # of a group, by number
FEW_CLASSES = 3  # of a group, that are counted one by one
DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def class_name(label: str, noun: str = "image") -> str:
    """The name of a class to be shown, without characters that would change the text around it; `noun` if it has none.

    These are control characters: line breaks, and those that turn the direction of writing.
    """
    return "".join(c for c in label if unicodedata.category(c) != "Cc" and c not in DIRECTIONS) or noun


def cut(name: str) -> str:
    """At most LONGEST_NAME characters."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def group_name(classes: Sequence[str], noun: str = "image") -> str:
    """The images of a group, of whatever classes they are; "" is a class that is not known.

    >>> group_name(["dog", "dog"]), group_name(["cat", "dog", "dog"]), group_name([""] * 4, "item")
    ('2 dog images', '3 images (2 dog, 1 cat)', '4 items')
    >>> group_name(["dog", "cat", "truck", "ship"])
    '4 images of 4 classes'
    """
    name, inside = group_words(classes, noun)
    return f"{name} ({inside})" if inside else name


def group_words(classes: Sequence[str], noun: str) -> tuple[str, str]:
    """The same as a name and what stands in brackets behind it: how many of which class, where they are mixed."""
    counts = Counter(classes).most_common()
    all_of_it = f"{len(classes)} {noun}s"
    if len(counts) > FEW_CLASSES:
        return f"{all_of_it} of {len(counts)} classes", ""
    shown = [(count, isolated(cut(class_name(label, "other")))) for label, count in counts]
    if len(counts) > 1:
        return all_of_it, ", ".join(f"{count} {name}" for count, name in shown)
    return (f"{len(classes)} {shown[0][1]} {noun}s" if classes[0] else all_of_it), ""


def isolated(name: str) -> str:
    """`name` inside a sentence: one that is written from right to left must not turn what follows it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turns else name


def place(part: str, indices: Sequence[int]) -> str:
    """ "train 12", "target 17", "train 12, 40, 41, …"."""
    return f"{part} {some_of(list(map(str, indices)))}"


def some_of(texts: Sequence[str]) -> str:
    """The first few, and "…" for the others."""
    return f"{', '.join(texts[:SHOWN_MEMBERS])}{', …' if len(texts) > SHOWN_MEMBERS else ''}"
