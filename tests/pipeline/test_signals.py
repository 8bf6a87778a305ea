"""SIGTERM and SIGHUP end a command as a Ctrl-C does."""

import os
import signal
import subprocess
import threading
import time

import pytest
from real_command import COMMAND

from pipeline.signals import ENDING, as_interrupts, came


@pytest.mark.parametrize("number", ENDING)
def test_one_is_an_interrupt_and_later_ones_do_not_stop_what_clears_up(number):
    cleared = False
    with pytest.raises(KeyboardInterrupt), as_interrupts():
        try:
            signal.raise_signal(number)
        finally:
            for again in ENDING:
                signal.raise_signal(again)
            cleared = True
    assert cleared
    assert came() == number
    assert signal.getsignal(number) is signal.SIG_DFL
    with as_interrupts():
        assert came() is None


def test_what_is_ignored_or_answered_by_others_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_interrupts():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert came() is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_has_no_say():
    def use():
        with as_interrupts():
            said.append(signal.getsignal(signal.SIGTERM))

    said = []
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert said == [signal.SIG_DFL]


def begun(folder, *arguments, **options):
    """A command in the middle of its work."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    )
    while not list(folder.glob("data/fit/.tmp-*")):
        time.sleep(0.02)
        assert process.poll() is None, process.stderr.read()
    return process


def test_a_command_that_is_ended_clears_up_and_says_so(tmp_path):
    process = begun(tmp_path, "fit", "--quiet")
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (
        143,
        "datamodels-inf: ended by SIGTERM; nothing was left half-written.\n",
    )
    assert [path for path in (tmp_path / "data" / "fit").iterdir() if not path.name.startswith(".work-")] == []
    assert not (tmp_path / "data" / ".lock-holder").exists()


def test_a_terminal_that_is_closed(tmp_path):
    """Nobody hears the sentence, and the exit code is that of SIGHUP all the same."""
    controller, terminal = os.openpty()
    own_terminal = "import os, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    process = subprocess.Popen(
        [*COMMAND[:2], own_terminal + COMMAND[2], "fit"], cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    while not list(tmp_path.glob("data/fit/.tmp-*")):
        time.sleep(0.02)
        assert process.poll() is None
    os.close(controller)
    assert process.wait(60) == 129
    assert not list(tmp_path.glob("data/fit/.tmp-*"))
