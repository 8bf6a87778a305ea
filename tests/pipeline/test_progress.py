"""A bar for those who watch, and none for those who do not; a real terminal."""

import os
import pty
import sys
import termios
import time

import pytest

from pipeline.progress import progress_bar


@pytest.fixture
def terminal(monkeypatch):
    """Standard error on a pseudo-terminal; returns what was written to it."""
    primary, secondary = pty.openpty()
    termios.tcsetwinsize(secondary, (24, 100))
    file = os.fdopen(secondary, "w")
    monkeypatch.setattr(sys, "stderr", file)

    def written():
        file.flush()
        os.set_blocking(primary, False)
        try:
            return os.read(primary, 1 << 16).decode()
        except BlockingIOError:
            return ""

    yield written
    file.close()
    os.close(primary)


def test_steps_may_be_parts_of_a_unit(terminal):
    with progress_bar(3, "target", "fit", quiet=False) as advance:
        for _ in range(3):
            advance(0.5)
        time.sleep(0.15)  # A bar is drawn at most ten times a second.
        advance(0.5)
        last = terminal().split("\r")[-1]
        assert last.startswith("fit:  67%|")
        assert "| 2/3 [" in last
        assert "target" in last


def test_bytes_are_told_in_thousands(terminal):
    with progress_bar(5_000_000, "B", "download", quiet=False) as advance:
        time.sleep(0.15)
        advance(2_000_000)
        assert "| 2.00M/5.00M [" in terminal().split("\r")[-1]


def test_nothing_is_drawn_when_quiet(terminal):
    with progress_bar(2, "pair", "test", quiet=True) as advance:
        advance(2)
    assert terminal() == ""


def test_nothing_is_drawn_where_nobody_watches(capfd):
    with progress_bar(2, "pair", "test", quiet=False) as advance:
        advance(2)
    assert capfd.readouterr() == ("", "")
