"""Names that users give: of the models' outcome ("margin", "loss") and of single images, safe in any sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LONGEST_OUTCOME, LONGEST_NAME = 40, 60
MOST_LISTED = 20
UNNAMED = "outcome"
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of the text around them."""
OBEYED = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{''.join(sorted(TURNING))}]")
"""These, control characters but for line breaks and tabs, and halves of surrogates."""


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """`text` without line breaks and characters that cannot be seen or turn the text around them, cut where it is long.

    >>> one_line("body\\nmass"), len(one_line("x" * 99))
    ('body mass', 60)
    """
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    name = " ".join(plain.split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def listed(names: Sequence[str]) -> str:
    """Names for a sentence: the first of them, and how many more there are.

    >>> listed(["cat", "dog"]), listed([str(k) for k in range(99)])[-18:]
    ('cat, dog', '18, 19 and 79 more')
    """
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(map(one_line, names[:MOST_LISTED])) + more


def printable(text: str) -> str:
    """`text` with a mark in the place of what a terminal would obey, and of what is no text; line breaks and tabs stay.

    >>> printable("a\\x1b[31mb\\tc")
    'a�[31mb\\tc'
    """
    return OBEYED.sub("\ufffd", text)


def outcome_name(text: str) -> str:
    """What the outcome is called in a sentence, "outcome" where it has no name.

    No plural is ever made of it: "losses" and "probabilities" are not made by an s, so sentences do without.

    >>> outcome_name("log loss"), outcome_name(" ")
    ('log loss', 'outcome')
    """
    return one_line(text, LONGEST_OUTCOME) or UNNAMED
