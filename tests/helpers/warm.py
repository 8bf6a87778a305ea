"""Fresh processes that start at once: forks of one process per pytest worker, which has imported everything.

Python, numba and torch take seconds to start. A fork has no state of any other; it is a process that can be killed,
interrupted and waited for as any. Tests of the start itself, of what is imported, or of what a process inherits take
`real_command`.
"""

import contextlib
import importlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing import forkserver
from pathlib import Path
from unittest.mock import patch

from places import ROOT
from progress_lines import without_progress

import pipeline.places.processes as processes

PATHS = os.pathsep.join((str(ROOT), str(Path(__file__).parent)))


def context(kind="spawn"):
    """That of multiprocessing, with the process that forks running."""
    multiprocessing.set_forkserver_preload(["imported"])
    with patch.dict(os.environ, {"PYTHONPATH": PATHS}):
        forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")


class Warm:
    """A program in a session of its own, as subprocess.Popen has it. program: the module whose `main` it is. places: of
    the files where its output and its errors go. before: Python for it to begin with."""

    def __init__(self, program, words, folder, environment, places, before=""):
        for place in places:
            place.touch()
        given = (program, [str(word) for word in words], str(folder), dict(environment), places, before)
        self._process = context().Process(target=_run, args=given)
        self._process.start()
        self.pid = self._process.pid
        while self.poll() is None and os.getpgid(self.pid) != self.pid:
            time.sleep(0.001)  # So that its group can be killed.

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout=300):
        self._process.join(timeout)
        assert self.returncode is not None, "it hangs"
        return self.returncode


class Command(Warm):
    """The command line."""

    def __init__(self, folder, *words, before=""):
        self._home = Path(tempfile.mkdtemp(prefix="command-"))
        self._said = ()
        places = [self._home / name for name in ("out", "err")]
        super().__init__("pipeline.cli", words, folder, os.environ, places, before)

    def wait(self, timeout=300):
        super().wait(timeout)
        if not self._said:
            texts = ((self._home / name).read_bytes().decode(errors="replace") for name in ("out", "err"))
            self._said = tuple(map(without_progress, texts))
            shutil.rmtree(self._home)
        return self.returncode

    def communicate(self, timeout=300):
        """What it wrote, without progress."""
        self.wait(timeout)
        return self._said


def call(folder, *words):
    command = Command(folder, *words)
    out, err = command.communicate()
    return subprocess.CompletedProcess(words, command.returncode, out, err)


def ok(folder, *words):
    done = call(folder, *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def _run(program, words, folder, environment, places, before):
    os.setsid()
    for number, place in enumerate(places, 1):
        handle = os.open(place, os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program, *words]
    start_processes_warm()
    exec(before)
    try:
        importlib.import_module(program).main()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        # As any Python ends: threads, with the pools of processes that they lead, before multiprocessing, which would
        # wait for a process that nobody tells to end.
        threading._shutdown()


def start_processes_warm():
    """What trains in this process is forked by the one that forked it, and not by itself, which has threads."""
    forkserver._forkserver.ensure_running = lambda: None  # It does run.
    processes.get_context = lambda kind: multiprocessing.get_context("forkserver")
