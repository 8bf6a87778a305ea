"""A bar for those who watch, and none for those who do not; a real terminal."""

import time

from terminals import terminal

from pipeline.progress import SCREEN, progress_bar, share_bar


def last_drawn(written, part):
    """The bar, once it shows `part`: at once, or with its next beat if that has just drawn it."""
    deadline = time.monotonic() + 10
    while part not in (last := written().split("\r")[-1]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return last


def test_steps_may_be_parts_of_a_unit():
    with terminal() as written, progress_bar(3, "target", "fit", quiet=False) as advance:
        for _ in range(3):
            advance(0.5)
        time.sleep(0.15)  # A bar is drawn at most ten times a second.
        advance(0.5)
        assert last_drawn(written, "| 2/3 targets [").startswith("fit:  67%|")


def test_bytes_are_told_in_thousands_and_the_bar_leaves_no_trace():
    with terminal() as written:
        with progress_bar(5_000_000, "B", "download", quiet=False) as advance:
            time.sleep(0.15)
            advance(2_000_000)
            assert "| 2.0 MB/5.0 MB [" in last_drawn(written, "2.0 MB")
        assert written() == "\r\x1b[K"


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


def test_there_is_no_bar_for_nothing():
    with terminal() as written:
        with progress_bar(0, "panel", "report", quiet=False) as advance:
            time.sleep(0.15)
            advance(0)
        assert written() == ""


def test_the_first_step_with_its_compiling_makes_no_nonsense_of_the_rest(monkeypatch):
    """46 s for the first target, then two a second: half a second for each of those that are left."""
    from pipeline.progress import screen

    now = [0.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(SCREEN, "_drawn_at", -1.0)
    with terminal() as written, progress_bar(12, "target", "fit", quiet=False) as advance:
        for seconds in (46.0, *(46.5 + 0.5 * k for k in range(9))):
            now[0] = seconds
            advance(1)
            text = written()
            if seconds < 47:
                assert "<" not in text
        assert "| 10/12 targets [00:50<00:01, 2.0 target/s]" in text


def test_of_several_passes_only_the_share_is_told():
    with terminal() as written, share_bar(400, "influence", quiet=False) as advance:
        time.sleep(0.15)
        advance(100)
        last = last_drawn(written, "25%")
        assert last.startswith("influence:  25%|")
        assert "100" not in last
