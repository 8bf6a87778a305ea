"""Names that users give: of the models' outcome ("margin", "loss") and of single images, safe in any sentence."""

from __future__ import annotations

import unicodedata

LONGEST_OUTCOME, LONGEST_NAME = 40, 60
UNNAMED = "outcome"


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """`text` without line breaks and characters that cannot be seen or turn the text around them, cut where it is long.

    >>> one_line("body\\nmass"), len(one_line("x" * 99))
    ('body mass', 60)
    """
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    name = " ".join(plain.split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def outcome_name(text: str) -> str:
    """What the outcome is called in a sentence, "outcome" where it has no name.

    No plural is ever made of it: "losses" and "probabilities" are not made by an s, so sentences do without.

    >>> outcome_name("log loss"), outcome_name(" ")
    ('log loss', 'outcome')
    """
    return one_line(text, LONGEST_OUTCOME) or UNNAMED
