"""What the command line says when it cannot do what it was asked."""

from __future__ import annotations


class BadInputError(Exception):
    """A request that cannot be carried out as given: one sentence that says what, where and what to do. Exit code 2."""


class StoppedEarly(Exception):  # noqa: N818 (not an error)
    """The user wanted no more than this. Exit code 0."""
