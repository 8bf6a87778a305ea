"""A Ctrl-C reaches the command, and not the processes that it has started."""

import signal
import subprocess
import sys

import pytest
from dask_processes import ENVIRONMENT

from pipeline.places.interrupts import interrupts_later, same_handler
from pipeline.signals import as_interrupts, came

HELD_BACK = """
import os, signal, sys, threading, time
from pipeline.places.interrupts import interrupts_later
end = threading.Event()
others = [threading.Thread(target=end.wait, daemon=True) for _ in range(int(sys.argv[1]))]
for other in others:
    other.start()
reached = 0
try:
    with interrupts_later():
        for _ in range(50):
            os.kill(os.getpid(), signal.SIGINT)
            reached += 1
        time.sleep(0.5)  # Another thread, which has to get its turn, may be the one that hears them.
except KeyboardInterrupt:
    print("heard after", reached, flush=True)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("heard at once")
"""


@pytest.mark.parametrize("n_others", (0, 3))
def test_one_that_comes_inside_is_heard_at_the_end(n_others):
    """Whichever thread the system gives it to. In a process of its own: one that comes late would end all tests."""
    command = [sys.executable, "-c", HELD_BACK, str(n_others)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("heard after 50\nheard at once\n", "")


def test_processes_started_inside_do_not_hear_it():
    code = "import sys, time; print('here', flush=True); time.sleep(0.5); print('there')"
    ends = []
    for blocked in (False, True):
        command = [sys.executable, "-c", code]
        if blocked:
            with interrupts_later():
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        else:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        ends.append((process.communicate()[0], process.returncode))
    assert ends[0][0] == ""
    assert ends[1] == ("there\n", 0)


def test_an_import_that_changes_the_handler_does_not():
    before = signal.getsignal(signal.SIGINT)
    with same_handler():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_signals_that_end_a_command_come_at_the_end_too():
    reached = False
    with pytest.raises(KeyboardInterrupt), as_interrupts(), interrupts_later():
        signal.raise_signal(signal.SIGTERM)
        reached = True
    assert reached
    assert came() == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
