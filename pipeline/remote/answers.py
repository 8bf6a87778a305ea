"""What an HTTP answer says of itself: which bytes it brings, and of which version of the object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import requests

from pipeline.remote.pieces import Pace, read_pieces


@dataclass(frozen=True)
class Version:
    """Size and tags of an object, as they were sent; "" where an answer does not say."""

    size: str
    etag: str
    modified: str

    @classmethod
    def of(cls, response: requests.Response) -> Version:
        """As the headers tell; the size is that of the object, also where only a range of it was sent."""
        headers = response.headers
        size = _content_range(response)[1] if response.status_code == 206 else headers.get("Content-Length", "")
        return cls(size, headers.get("ETag", ""), headers.get("Last-Modified", ""))

    def differs(self, other: Version) -> bool:
        """Whether both say something and not the same; dates count only where a tag is missing.

        >>> Version("9", '"a"', "Monday").differs(Version("9", '"a"', "Tuesday"))
        False
        >>> Version("9", "", "Monday").differs(Version("", '"a"', "Tuesday"))
        True
        """
        pairs = [(self.size, other.size), (self.etag, other.etag)]
        if not (self.etag and other.etag):
            pairs.append((self.modified, other.modified))
        return any(mine and theirs and mine != theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Answer:
    """The bytes of an object from `start` on: those that were asked for (`ranged`), or all of it."""

    response: requests.Response
    start: int
    ranged: bool
    silence: float
    pace: Pace

    def pieces(self, length: int, *, left: int | None = None, as_they_come: bool = False) -> Iterator[bytes]:
        """The body as it was sent, `left` bytes of it: in pieces of `length`, or in what is there (`as_they_come`).

        Unlike `iter_content`, this gives what came before the server hung up.
        """
        raw = self.response.raw
        read = getattr(raw, "read1", raw.read) if as_they_come else raw.read
        whole = partial(read, decode_content=False)
        return read_pieces(whole, length, silence=self.silence, pace=self.pace, left=left)


def whole_size(text: str) -> int | None:
    """A size as a server says it; None for what is none, such as one of more digits than any object has bytes.

    >>> whole_size("12"), whole_size("-1"), whole_size("²")
    (12, None, None)
    """
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else None


def range_start(response: requests.Response) -> int | None:
    """The first byte that the answer to a request for a range brings; None where it does not say."""
    start = _content_range(response)[0]
    return int(start) if start else None


def _content_range(response: requests.Response) -> tuple[str, str]:
    text = response.headers.get("Content-Range", "").replace(" ", "").lower()
    found = re.fullmatch(r"bytes([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)", text)
    return (found[1], found[2].replace("*", "")) if found else ("", "")
