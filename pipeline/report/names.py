"""What images and classes are called, safe inside a sentence whatever the class is called."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

SHOWN_MEMBERS = 3  # of a group, by number
LONGEST_NAME = 60  # of a class in a sentence
DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def image_name(article: str, label: str, indices: Sequence[int]) -> str:
    """ "this dog (train 12)", or "these 5 dog images (train 12, 40, 41, …)"."""
    name = _isolated(class_name(label if len(label) <= LONGEST_NAME else f"{label[: LONGEST_NAME - 1]}…"))
    if len(indices) == 1:
        return f"{article} {name} ({place('train', indices)})"
    plural_article = {"this": "these", "that": "those"}[article]
    return f"{plural_article} {len(indices)} {f'{name} ' if label else ''}images ({place('train', indices)})"


def class_name(label: str) -> str:
    """The name of a class to be shown, without characters that would change the text around it; "image" if it has none.

    These are control characters: line breaks, and those that turn the direction of writing.
    """
    return "".join(c for c in label if unicodedata.category(c) != "Cc" and c not in DIRECTIONS) or "image"


def _isolated(name: str) -> str:
    """`name` inside a sentence: one that is written from right to left must not turn what follows it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turns else name


def place(part: str, indices: Sequence[int]) -> str:
    """ "train 12", "target 17", "train 12, 40, 41, …"."""
    shown = ", ".join(map(str, indices[:SHOWN_MEMBERS]))
    return f"{part} {shown}{', …' if len(indices) > SHOWN_MEMBERS else ''}"
