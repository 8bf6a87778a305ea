"""What the command line says when it cannot do what it was asked."""

from __future__ import annotations


class BadInputError(Exception):
    """A request that cannot be carried out as given: one sentence that says what, where and what to do. Exit code 2."""


class StoppedEarly(Exception):  # noqa: N818 (not an error)
    """The user wanted no more than this. Exit code 0."""


class WorkStoppedError(Exception):
    """Work that could not go on, for a reason outside of it: one sentence; what is done is kept. Exit code 1."""
