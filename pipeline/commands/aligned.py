"""Tables of a terminal: columns of equal width, and images by number and class."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from pipeline.text.given_names import one_line


def aligned(cells: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Columns of equal width, with text to the left; all but the first to the right if `right`.

    >>> aligned([["a", "b"], ["10", "77"]], right=True)
    ['a    b', '10  77']
    """
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        blanks = [" " * (width - _width(text)) for text, width in zip(line, widths, strict=True)]
        first, *others = zip(line, blanks, strict=True)
        padded = (f"{blank}{text}" if right else f"{text}{blank}" for text, blank in others)
        lines.append("  ".join(["".join(first), *padded]).rstrip())
    return lines


def named(number: int, name: str) -> str:
    """ "12 (dog)", or "12" where no class is known."""
    name = one_line(name)
    return f"{number} ({name})" if name else str(number)


def headed(head: str, *, names: bool, classes: bool) -> str:
    """The head of a column of what `named` gives.

    >>> headed("i", names=True, classes=True), headed("j", names=False, classes=True)
    ('i (name)', 'j (class)')
    """
    return f"{head} (name)" if names else f"{head} (class)" if classes else head


def called(label: str, part: str, number: int, name: str = "", article: str = "", noun: str = "image") -> str:
    """An image in a sentence: "this dog (train 12)"; one with a name of its own is called by it.

    noun: what is trained on, for one that has neither name nor class.

    >>> called("dog", "train", 12, article="this "), called("", "target", 3, "bmi"), called("", "train", 3, noun="item")
    ('this dog (train 12)', 'bmi (target 3)', 'item 3')
    """
    label, name = (
        one_line(label),
        one_line(name),
    )  # A line break in a class's name would begin a line that looks like ours.
    if name:
        return f"{name} ({f'{label}, ' if label else ''}{part} {number})"
    if label:
        return f"{article}{label} ({part} {number})"
    return f"{noun if part == 'train' else part} {number}"


def _width(text: str) -> int:
    """Columns that it takes: the hat of θ̂ takes none."""
    return sum(not unicodedata.combining(letter) for letter in text)
