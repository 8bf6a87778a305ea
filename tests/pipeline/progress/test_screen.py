"""What shows on a real terminal and in a log, without waiting for the seconds that pass there."""

import io
import os
import time
from contextlib import redirect_stderr

import pytest
from terminals import terminal

from pipeline.closed_pipe import echo
from pipeline.progress import progress_bar, screen, working
from pipeline.progress.screen import SCREEN, bar
from pipeline.progress.words import State


@pytest.fixture
def fast(monkeypatch):
    """A log that is told after 0.1 s and every 0.3 s."""
    monkeypatch.setattr(screen, "BEAT", 0.02)
    monkeypatch.setattr(screen, "SOON", 0.1)
    monkeypatch.setattr(screen, "EVERY", 0.3)


def log(work):
    """The lines that `work` leaves in a log."""
    with redirect_stderr(io.StringIO()) as written:
        work()
    return written.getvalue().splitlines()


@pytest.mark.usefixtures("fast")
def test_a_log_is_told_soon_and_then_now_and_then():
    def work():
        with progress_bar(1000, "target", "fit", quiet=False) as advance:
            for _ in range(10):
                time.sleep(0.08)
                advance(100)

    lines = log(work)
    assert 2 <= len(lines) <= 4, lines
    assert all(line.startswith("fit: ") and " of 1,000 targets (" in line for line in lines)


@pytest.mark.usefixtures("fast")
def test_work_without_a_count_is_told_where_nothing_else_was_printed():
    def work():
        with working("report", quiet=False):
            time.sleep(0.5)

    assert [line.split(",")[0] for line in log(work)] == ["report: working"]


@pytest.mark.usefixtures("fast")
def test_a_short_work_and_a_quiet_one_leave_no_line():
    def short():
        with progress_bar(2, "pair", "test", quiet=False) as advance:
            advance(2)

    def quiet():
        with progress_bar(2, "pair", "test", quiet=True), working("test", quiet=True):
            time.sleep(0.4)

    assert log(short) == log(quiet) == []


@pytest.mark.usefixtures("fast")
def test_many_works_of_one_name_do_not_fill_a_log():
    def work():
        for _ in range(5):
            with progress_bar(2, "pair", "robustness", quiet=False):
                time.sleep(0.15)

    assert len(log(work)) <= 3


@pytest.mark.usefixtures("fast")
def test_only_the_innermost_shows():
    def work():
        with working("fit", quiet=False), progress_bar(4, "row", "quality", quiet=False):
            time.sleep(0.5)

    assert {line.split(":")[0] for line in log(work)} == {"quality"}


@pytest.mark.usefixtures("fast")
def test_a_bar_is_drawn_again_while_nothing_advances():
    with terminal() as written, progress_bar(4, "row", "fit", quiet=False):
        time.sleep(0.3)
        drawings = written().split("\r")
        assert len(drawings) > 3
        assert all("0/4 rows [00:00]" in text for text in drawings[1:])


@pytest.mark.usefixtures("fast")
def test_work_without_a_count_says_how_long_it_takes():
    with terminal() as written, working("report", quiet=False):
        assert written() == ""
        time.sleep(0.3)
        assert "report: working, 0 s" in written()


def test_a_line_is_printed_in_place_of_the_bar_and_the_bar_comes_back():
    with terminal() as written, progress_bar(4, "row", "fit", quiet=False) as advance:
        time.sleep(0.15)
        advance(1)
        assert "1/4" in written()
        echo("a line", err=True)
        assert written().startswith("\r\x1b[Ka line\r\n")
        time.sleep(0.15)
        advance(1)
        assert "2/4" in written()


def test_a_stream_that_is_gone_stops_nothing():
    stream = io.StringIO()
    with redirect_stderr(stream), progress_bar(4, "row", "fit", quiet=False) as advance:
        stream.close()
        advance(4)
        SCREEN._show(time.monotonic() + 100)


def test_a_forked_process_has_no_work_of_its_parent():
    with progress_bar(4, "row", "fit", quiet=False):
        child = os.fork()
        if child == 0:
            os._exit(len(SCREEN._open))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("width", (20, 40, 80, 200))
@pytest.mark.parametrize("total", (None, 310_000))
def test_a_bar_fits_in_its_terminal(width, total):
    text = bar(State("download {x}", "model", 12_000, total, 60.0, 200.0), width, plain=True)
    assert len(text) < width
    assert text.isascii()
