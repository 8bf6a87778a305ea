"""The command line, in forks that start at once (`Forks`) or as a user starts it (`start_real`)."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from progress_lines import without_progress
from servers import ENVIRONMENT

HERE = Path(__file__).parent
REAL = [sys.executable, str(HERE / "small_steps.py")]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PATIENCE = 180
"""Seconds for one command: one that takes longer hangs."""


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said. left: processes of it that outlived it."""

    code: int
    out: str
    err: str
    left: tuple = ()

    @property
    def said(self):
        """All of it, for a look at names."""
        return f"{self.out}\n{self.err}"

    @property
    def sentence(self):
        """Whether it ended with one sentence of our own, in place of an internal error."""
        told = self.code in (1, 2) and self.err.startswith("datamodels-inf: ") and self.err.count("\n") == 1
        return told and "datamodels-inf: failed:" not in self.err and "Traceback" not in self.err


class Running:
    """A command in a fork."""

    def __init__(self, talk, connection, out, err):
        self._talk, self._connection, self._out, self._err = talk, connection, out, err
        self.pid = int(talk.readline())

    def kill(self):
        """All of its group, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def is_stopped(self):
        """By `stop_at`."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
        except OSError:
            return False

    def go_on(self):
        """After a stop."""
        os.kill(self.pid, signal.SIGCONT)

    def wait(self):
        """Until it has ended; what hangs is killed, and says so."""
        try:
            line = self._talk.readline()
            left = outliving(self.pid)
        except TimeoutError:
            self.kill()
            return Done(-1, self._out.read_text(errors="replace"), "it hangs\n")
        finally:
            self.kill()  # What it started, if anything is left.
            self._connection.close()
        err = without_progress(self._err.read_text(errors="replace"))
        return Done(int(line), self._out.read_text(errors="replace"), err, left)


class Forks:
    """The process that forks, and the folder where its socket and the output of commands are.

    small: commands work in small steps (`small_steps`), place: where it listens.
    """

    def __init__(self, small=True):
        self._home = Path(tempfile.mkdtemp(prefix="faults-"))
        self._count = 0
        place = str(self._home / "s")
        environment = {**os.environ, **ONE_THREAD, **ENVIRONMENT}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "zygote.py"), place, *([] if small else ["--large"])],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._process.stdout.readline() == b"ready\n", "the process that forks did not start"
        self.place = place

    def close(self):
        """It and its folder."""
        self._process.kill()  # To take everything down in order would take seconds.
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        for path in self._home.iterdir():
            path.unlink()
        self._home.rmdir()

    def begin(self, folder, *words, environment=None, file_bytes=None, events=None, kill_at=None, stop_at=None):
        """Start a command in `folder`; see `file_events.watch` and RLIMIT_FSIZE."""
        self._count += 1
        out, err = (self._home / f"{self._count % 64}.{name}" for name in ("out", "err"))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.place)
        connection.settimeout(PATIENCE)
        talk = connection.makefile("rw", encoding="utf-8")
        request = {
            "words": [str(word) for word in words], "folder": str(folder), "out": str(out), "err": str(err),
            "environment": environment or {}, "file_bytes": file_bytes, "kill_at": kill_at, "stop_at": stop_at,
            "events": None if events is None else str(events),
        }  # fmt: skip
        talk.write(json.dumps(request) + "\n")
        talk.flush()
        return Running(talk, connection, out, err)

    def run(self, folder, *words, **options):
        """A command to its end."""
        return self.begin(folder, *words, **options).wait()

    def ok(self, folder, *words, **options):
        """A command that ends well."""
        done = self.run(folder, *words, **options)
        assert done.code == 0, f"{' '.join(map(str, words))}: {done.err}"
        return done


def outliving(session, patience=5.0):
    """Command lines of the processes of a session, once its leader has ended: they get a moment to notice that."""
    deadline = time.monotonic() + patience
    while (found := _processes_of(session)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return tuple(found)


def _processes_of(session):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):  # It has just ended.
            state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and int(entry.name) != session and state not in "ZX":
                found.append((entry / "cmdline").read_text(errors="replace").replace("\0", " ").strip()[:120])
    return found


@contextlib.contextmanager
def start_real(folder, *words, environment=None):
    """A process of its own, in a group of its own; what is left of it at the end is killed."""
    process = subprocess.Popen(
        [*REAL, *map(str, words)], cwd=folder, env={**os.environ, **ONE_THREAD, **ENVIRONMENT, **(environment or {})},
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(condition, process, patience=PATIENCE):
    """Whether it came true before the process ended; looked at every millisecond."""
    deadline = time.monotonic() + patience
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True
