"""A bar for those who watch, and none for those who do not; a real terminal."""

import os
import pty
import termios
import time
from contextlib import contextmanager, redirect_stderr

from pipeline.progress import progress_bar

MARK = "<mark>"


@contextmanager
def terminal():
    """Standard error on a pseudo-terminal; gives what was written to it since it was asked last."""
    primary, secondary = pty.openpty()
    termios.tcsetwinsize(secondary, (24, 100))

    def written():
        """Up to a mark of our own, because the kernel hands it over in its own time."""
        file.write(MARK)
        file.flush()
        text = ""
        while not text.endswith(MARK):
            text += os.read(primary, 1 << 16).decode()
        return text.removesuffix(MARK)

    with os.fdopen(secondary, "w") as file, redirect_stderr(file):
        yield written
    os.close(primary)


def test_steps_may_be_parts_of_a_unit():
    with terminal() as written, progress_bar(3, "target", "fit", quiet=False) as advance:
        for _ in range(3):
            advance(0.5)
        time.sleep(0.15)  # A bar is drawn at most ten times a second.
        advance(0.5)
        last = written().split("\r")[-1]
        assert last.startswith("fit:  67%|")
        assert "| 2/3 [" in last
        assert "target" in last


def test_bytes_are_told_in_thousands_and_the_bar_leaves_no_trace():
    with terminal() as written:
        with progress_bar(5_000_000, "B", "download", quiet=False) as advance:
            time.sleep(0.15)
            advance(2_000_000)
            assert "| 2.00M/5.00M [" in written().split("\r")[-1]
        assert written().strip() == ""


def test_nothing_is_drawn_when_quiet():
    with terminal() as written:
        with progress_bar(2, "pair", "test", quiet=True) as advance:
            time.sleep(0.15)
            advance(2)
        assert written() == ""


def test_nothing_is_drawn_where_nobody_watches(capfd):
    with progress_bar(2, "pair", "test", quiet=False) as advance:
        time.sleep(0.15)
        advance(2)
    assert capfd.readouterr() == ("", "")
