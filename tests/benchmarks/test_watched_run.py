"""What is watched of a command: silences and what stood there meanwhile, bars that stand, memory, its end."""

import os
import sys

import pytest
from watched_run import Silence, Watched, watch

TALK = """
import sys, time
print("begins", sys.stdout.isatty(), flush=True)
ballast = bytearray(60_000_000)
time.sleep(1.0)
for k in range(5):
    print(f"\\r{'work':<6} 10% | 1/9 [00:0{k}<?]", end="", flush=True)
    time.sleep(0.4)
print("\\nends", flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("terminal", (True, False))
def test_a_command_is_seen_as_its_user_sees_it(tmp_path, terminal):
    seen = watch([sys.executable, "-c", TALK], tmp_path, os.environ, terminal=terminal)
    assert seen.code == 3
    assert f"begins {terminal}" in seen.text
    longest = max((s for s in seen.silences() if s.after), key=lambda s: s.seconds)
    assert longest.after.startswith("begins") and 0.9 < longest.seconds < 5
    stood = next(s for s in seen.stands() if s.after.startswith("work"))
    assert 1.9 < stood.seconds < 8
    assert max(s.seconds for s in seen.silences() if s.after.startswith("work")) < stood.seconds
    assert 60e6 < seen.own_bytes < 200e6
    assert seen.own_bytes < seen.resident_bytes
    assert seen.seconds > 3


def test_silences_begin_with_the_start_and_end_with_the_end():
    seen = Watched(seconds=10.0, said=[(4.0, "a\r\n"), (5.0, "\x1b[A\r b 1/2 [00:01]"), (7.0, "\r b 1/2 [00:03]")])
    assert [(s.seconds, s.after) for s in seen.silences()] == [
        (4.0, ""), (3.0, "b 1/2 [00:03]"), (2.0, "b 1/2 [00:01]"), (1.0, "a"),
    ]  # fmt: skip
    assert [(s.seconds, s.after.strip()) for s in seen.stands()] == [(5.0, "b 1/2"), (4.0, ""), (1.0, "a")]


def test_a_line_may_come_in_pieces():
    seen = Watched(seconds=9.0, said=[(1.0, "fit "), (2.0, "running"), (5.0, "\r\n"), (6.0, "do"), (6.5, "ne\n")])
    assert seen.silences()[0] == Silence(3.0, "fit running")
    assert [s.after for s in seen.silences()] == ["fit running", "done", "", "fit", "fit running", "do"]
