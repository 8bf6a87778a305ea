"""What is trained on is called an image only where it is known to be one; else it is an item."""

from __future__ import annotations

import re

IMAGE, ITEM = "image", "item"


def noun_of(*, are_images: bool) -> str:
    """ "image" where there are pictures, or where those that belong to the data are only not at hand; else "item"."""
    return IMAGE if are_images else ITEM


def worded(text: str, noun: str) -> str:
    """A text of ours about images, about what is trained on: never one that a user gave.

    >>> worded("Images: an image in 3 masks of images", "item")
    'Items: an item in 3 masks of items'
    """
    return re.sub(r"\b([Ii])mage(s?)\b", lambda found: _like(noun, found[1]) + found[2], text)


def _like(noun: str, first: str) -> str:
    return noun.capitalize() if first.isupper() else noun
