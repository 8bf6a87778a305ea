"""What can go wrong with a remote object: for good, or so that another attempt may help."""

from __future__ import annotations


class RemoteError(Exception):
    """A request that will not succeed by trying again: one sentence with the remedy.

    `brief` says the same of an "it" and without a remedy, for a list of places of which each has failed.
    """

    def __init__(self, sentence: str, brief: str | None = None) -> None:
        super().__init__(sentence)
        self.brief = brief or sentence.rstrip(".")


class ChangedError(RemoteError):
    """The object is another one than at the first request."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} changed while it was fetched; run the command again.", "it changed while it was sent")


class NotRangedError(Exception):
    """The server answers a request for a range with the whole object."""


class TransientError(Exception):
    """A request that may succeed when it is tried again, `retry_after` seconds later if the server says so."""

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class UnreachableError(TransientError):
    """No connection at all."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(f"it cannot be reached ({root_reason(cause)})")


class TooSlowError(TransientError):
    """A connection that brings bytes, but hardly any."""


class CutShortError(TransientError):
    """An answer that ended before its end; what came of it is good."""


def root_reason(error: BaseException) -> str:
    """The first cause, in the words of the operating system where it is one of them: "Connection refused"."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
