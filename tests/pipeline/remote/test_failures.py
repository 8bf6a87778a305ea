"""Failures in words: the first cause, and a short form for lists of places."""

import socket

import pytest

from pipeline.remote.failures import ChangedError, RemoteError, UnreachableError, root_reason


def test_the_first_cause_of_a_chain_is_told_in_the_words_of_the_system():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        try:
            try:
                socket.create_connection(free.getsockname(), timeout=5)
            except OSError as error:
                raise RuntimeError("no connection") from error
        except RuntimeError as error:
            assert root_reason(error) == "Connection refused"
            assert str(UnreachableError(error)) == "it cannot be reached (Connection refused)"


def test_a_cause_without_words_is_told_by_its_kind():
    assert root_reason(TimeoutError()) == "TimeoutError"
    try:
        try:
            raise KeyError("x")
        except KeyError:
            raise ValueError("while handling it")  # noqa: B904
    except ValueError as error:
        assert root_reason(error) == "KeyError"


@pytest.mark.parametrize(
    ("error", "brief"),
    [
        (RemoteError("http://a answers 404; check the address."), "http://a answers 404; check the address"),
        (RemoteError("http://a answers 404; check the address.", "it answers 404"), "it answers 404"),
        (ChangedError("http://a"), "it changed while it was sent"),
    ],
)
def test_a_failure_has_a_short_form_without_an_end(error, brief):
    assert error.brief == brief
    assert str(error).startswith("http://a ")
