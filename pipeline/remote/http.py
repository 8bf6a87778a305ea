"""Objects behind plain HTTP, by byte ranges where the server allows them: the one module that makes such requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import requests
import urllib3

from pipeline.remote.answers import Answer, Version, range_start, whole_size
from pipeline.remote.failures import (
    ChangedError,
    NotRangedError,
    RemoteError,
    TransientError,
    UnreachableError,
)
from pipeline.remote.objects import PIECE, Identity
from pipeline.remote.patience import seconds_asked
from pipeline.remote.pieces import PACE, Pace
from pipeline.text.secrets import without_secrets

TIMEOUT = (10.0, 30.0)
"""Seconds to connect, and without a byte."""


class HttpObject:
    """A URL; `size` is the one it must have, where that is known before it is asked.

    The first answer tells the version, and no later one may tell another.
    """

    def __init__(
        self, url: str, *, timeout: tuple[float, float] = TIMEOUT, pace: Pace = PACE, size: int | None = None
    ) -> None:
        self._url = url
        self._name = without_secrets(url)
        self._timeout = timeout
        self._pace = pace
        self._size = size
        self._session = requests.Session()
        self._session.hooks["response"].append(_without_body)
        self._version: Version | None = None

    @property
    def name(self) -> str:
        """The URL, for sentences, keys and files: without what is secret of it."""
        return self._name

    def identify(self) -> Identity:
        """Size and tag, from a request for one byte."""
        self.forget()
        with self.ask(0, 1) as answer:
            version = Version.of(answer.response)
            size = whole_size(version.size)
            if size is None:
                raise RemoteError(
                    f'{self._name} does not say how large it is; download it by hand and use source.kind = "files".'
                )
            if answer.ranged:
                next(answer.pieces(1), None)  # A connection is used again once its answer is read.
            return Identity(size, version.etag or version.modified)

    def stream(self, start: int, stop: int, length: int) -> Iterator[bytes]:
        """The bytes start..stop−1; a `NotRangedError` where the server would send all."""
        with self.ask(start, stop) as answer:
            if not answer.ranged:
                raise NotRangedError
            yield from answer.pieces(length)

    def stream_whole(self, stop: int) -> Iterator[bytes]:
        """The bytes up to stop−1 of an answer that is all of the object."""
        with self.ask(0) as answer:
            steady = replace(answer, pace=Pace(slowest=0))  # To hang up on it would lose all that came.
            yield from steady.pieces(min(PIECE, stop), left=stop)

    def forget(self) -> None:
        """Take the version that the next answer tells for the right one."""
        self._version = None

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()

    @contextmanager
    def ask(self, start: int, stop: int | None = None) -> Iterator[Answer]:
        """One request for the bytes start..stop−1, or for all from `start` on."""
        headers = {"Accept-Encoding": "identity"}  # Sizes, tags and ranges are those of the object itself.
        if start or stop is not None:
            headers["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
        if self._version is not None and self._version.etag and not self._version.etag.startswith("W/"):
            headers["If-Match"] = self._version.etag
        with self._get(headers) as response:
            ranged = response.status_code == 206
            self._check(response, start)
            yield Answer(response, start if ranged else 0, ranged, self._timeout[1], self._pace)

    def _get(self, headers: dict[str, str]) -> requests.Response:
        try:
            response = self._session.get(self._url, headers=headers, stream=True, timeout=self._timeout)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise self._explain(error) from error
        code, brief = response.status_code, f"it answers {response.status_code} {response.reason}"
        if code in (200, 206):
            return response
        response.close()
        if code >= 500 or code in (408, 429):
            raise TransientError(brief, seconds_asked(response.headers.get("Retry-After", "")))
        raise ChangedError(self._name) if code == 412 else RemoteError(_refusal(self._name, code), brief)

    def _explain(self, error: Exception) -> Exception:
        """Why a request got no answer."""
        if isinstance(error, requests.ReadTimeout):
            return TransientError(f"it sent nothing for {self._timeout[1]:g} seconds")
        if isinstance(error, requests.ConnectionError):
            unreachable = UnreachableError(error)
            hung_up = bool(error.args) and isinstance(error.args[0], urllib3.exceptions.ProtocolError)
            return TransientError(str(unreachable)) if hung_up else unreachable
        reason = without_secrets(" ".join(str(error).split()))[:200]
        return RemoteError(f"{self._name} cannot be requested ({reason}).", f"it cannot be asked ({reason})")

    def _check(self, response: requests.Response, start: int) -> None:
        """Refuse an answer unread that is of other bytes, or of another object."""
        version, ranged = Version.of(response), response.status_code == 206
        other_size = self._size is not None and version.size not in ("", str(self._size))
        if ranged and (range_start(response) != start or other_size):
            found = response.headers.get("Content-Range", "")[:60]
            raise RemoteError(
                f"{self._name} answered with other bytes than were asked for ({found!r}); use another server.",
                f"it answers with another part than bytes {start}- of {self._size}",
            )
        if other_size:
            offer = f"offers {version.size[:20]} bytes where the archive has {self._size}"
            raise RemoteError(f"{self._name} {offer}; use another server.", f"it {offer}")
        if self._version is None:
            self._version = version
        elif version.differs(self._version):
            raise ChangedError(self._name)


def _without_body(response: requests.Response, *_: object, **__: object) -> None:
    """Of an answer that leads elsewhere, requests would read and unpack the body, of any length, for nobody."""
    if response.is_redirect:
        response.raw.close()
        response.raw = None


def _refusal(url: str, code: int) -> str:
    if code in (401, 403):
        return f"{url} is refused ({code}): it needs rights that a plain request does not have; use another URL."
    if code in (404, 410):
        return f"{url} does not exist ({code}); check the URL."
    return f"{url} answered {code}; check the URL."
