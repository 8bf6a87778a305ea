"""Formulas are written in plain characters; in the site θ̂_i, Σ_{j≠i} and R^d get real sub- and superscripts.

On a code host they read as they are written. Python-Markdown would take some of their underscores for emphasis: a
combining hat is no letter to it.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor

SYMBOL = r"(?<![\w.])[A-Za-zα-ωΑ-ΩΦ∫][\u0302\u0304]?[′']?"
"""One letter, with a hat or a prime if it has one: longer words, such as names of files, have no indices."""
WORD = r"(?<![\w.])[A-Za-z]{2,}(?=_\{)"
"""What no name of a file has behind it is a brace: mean_{j≠i}."""
NUMBER = r"(?<![\w.])\d+"
INDEX = r"(?:\{([^{}]+)\}|(\(\w+\)|[A-Za-zα-ω0-9½]{1,4}))(?![A-Za-z0-9_])"
POWER = r"\(([\w+−]+)\)"
"""Above a number, what is in brackets needs none: 2^(1−n)."""
PATTERNS = {
    "null": r"(?P<base>\bH)(0)\b",
    "sub": rf"(?P<base>{SYMBOL}|{WORD})_{INDEX}",
    "power": rf"(?P<base>{NUMBER})\^{POWER}",
    "sup": rf"(?P<base>{SYMBOL}|(?<=[\])]))\^{INDEX}",
}
TAGS = {"null": "sub", "power": "sup"}


class Script(InlineProcessor):
    """A symbol and what stands below or above it, as one element that is not read again."""

    def __init__(self, name: str, md: Markdown) -> None:
        super().__init__(PATTERNS[name], md)
        self.tag = TAGS.get(name, name)

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # noqa: N802 (Markdown's name)
        """<span>base<sub>index</sub></span>."""
        whole = Element("span", {"class": "formula"})
        whole.text = m["base"]
        script = Element(self.tag)
        script.text = next(group for group in m.groups()[1:] if group is not None)
        whole.append(script)
        return whole, m.start(0), m.end(0)


class Formulas(Extension):
    """What mkdocs.yml's extensions are joined by."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Markdown's name)
        """After code and links are known, before emphasis."""
        for place, name in enumerate(PATTERNS):
            md.inlinePatterns.register(Script(name, md), f"formula-{name}", 65 - place)
