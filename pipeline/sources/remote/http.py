"""Objects behind plain HTTP, by byte ranges where the server allows them."""

from __future__ import annotations

from collections.abc import Iterator

import requests
from urllib3.exceptions import HTTPError

from pipeline.sources.remote.objects import PIECE, Identity, NotRangedError, RemoteError, TransientError

TIMEOUT = (10.0, 30.0)


class HttpObject:
    """A URL."""

    def __init__(self, url: str, *, timeout: tuple[float, float] = TIMEOUT) -> None:
        self._url = url
        self._timeout = timeout
        self._session = requests.Session()
        self._etag = ""

    @property
    def name(self) -> str:
        return self._url

    def identify(self) -> Identity:
        with self._get({"Range": "bytes=0-0"}) as answer:
            tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
            if answer.status_code == 206:
                total = answer.headers.get("Content-Range", "").rpartition("/")[2]
            else:
                total = answer.headers.get("Content-Length", "")
            if not total.isdigit():
                raise RemoteError(
                    f'{self._url} does not say how large it is; download it by hand and use source.kind = "files".'
                )
            self._etag = answer.headers.get("ETag", "")
            if answer.status_code == 206:
                next(_pieces(answer, 1), None)  # A connection is used again once its answer is read.
            return Identity(int(total), tag)

    def stream(self, start: int, stop: int, length: int) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
        if self._etag and not self._etag.startswith("W/"):
            headers["If-Match"] = self._etag
        with self._get(headers) as answer:
            if answer.status_code != 206:
                raise NotRangedError
            _check_range(self._url, answer.headers.get("Content-Range", ""), start)
            yield from _pieces(answer, length)

    def stream_whole(self, stop: int) -> Iterator[bytes]:
        with self._get({"Accept-Encoding": "identity"}) as answer:
            left = stop
            for piece in _pieces(answer, min(PIECE, stop)):
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    def _get(self, headers: dict[str, str]) -> requests.Response:
        try:
            answer = self._session.get(self._url, headers=headers, stream=True, timeout=self._timeout)
        except (requests.ConnectionError, requests.Timeout) as error:
            raise TransientError(f"no connection: {type(error).__name__}") from error
        except requests.RequestException as error:
            raise RemoteError(f"{self._url} cannot be requested ({error}).") from error
        code = answer.status_code
        if code in (200, 206):
            return answer
        answer.close()
        if code >= 500 or code in (408, 429):
            raise TransientError(f"the server answered {code}")
        raise RemoteError(_refusal(self._url, code))


def _refusal(url: str, code: int) -> str:
    if code == 412:
        return f"{url} changed while it was fetched; run the command again."
    if code in (401, 403):
        return f"{url} is refused ({code}): it needs rights that a plain request does not have; use another URL."
    if code in (404, 410):
        return f"{url} does not exist ({code}); check the URL."
    return f"{url} answered {code}; check the URL."


def _check_range(url: str, content_range: str, start: int) -> None:
    if not content_range.replace(" ", "").lower().startswith(f"bytes{start}-"):
        raise RemoteError(
            f"{url} answered with other bytes than were asked for ({content_range!r}); use another server."
        )


def _pieces(answer: requests.Response, length: int) -> Iterator[bytes]:
    """The body as it was sent; unlike `iter_content`, this gives what came before the server hung up."""
    try:
        while piece := answer.raw.read(length, decode_content=False):
            yield piece
            del piece
    except (HTTPError, OSError) as error:
        raise TransientError(f"the connection broke: {type(error).__name__}") from error
