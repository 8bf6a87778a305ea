"""What the command line says when it cannot do what it was asked."""

from __future__ import annotations


class BadInputError(Exception):
    """A request that cannot be carried out as given: one sentence that says what, where and what to do. Exit code 2."""
