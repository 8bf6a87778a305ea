"""A Dask scheduler and workers, with the words of the command line with which a user starts them.

Those that have the environment of the others are `warm`, and a nanny starts its worker as ever.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from places import ROOT
from warm import Warm

DASK = (sys.executable, "-m", "dask")
HELPERS = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HELPERS}", "OMP_NUM_THREADS": "1"}
"""Workers import this tree, whatever is installed."""


def wait_until(condition, seconds=60.0, every=0.02):
    """What `condition` says as soon as that is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(every)
    return found


def group(leader):
    """The processes of a group, but for those that ended and that nobody has asked about."""
    found = []
    for process in psutil.process_iter(["status"]):
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == leader and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


@contextmanager
def dask_processes(folder, n_workers=1, *options):
    """A scheduler with so many workers."""
    processes = DaskProcesses(folder)
    try:
        processes.start(n_workers, *options)
        yield processes
    finally:
        processes.close()


class DaskProcesses:
    """One scheduler and its workers, whose logs are in `folder`; all of them end with `close`."""

    def __init__(self, folder):
        self.folder = folder
        self.scheduler = None
        self.workers = []
        self.address = ""
        self._logs = []

    def start(self, n_workers, *options):
        """A scheduler, and so many workers that know it."""
        note = self.folder / f"scheduler-{len(self._logs)}.json"
        note.unlink(missing_ok=True)
        own = (
            "--host",
            "127.0.0.1",
            "--port",
            0,
            "--no-dashboard",
            "--dashboard-address",
            ":0",
            "--scheduler-file",
            note,
        )
        self.scheduler = self._warm("scheduler", *own)
        wait_until(lambda: note.is_file() and note.read_text().rstrip().endswith("}"))
        self.address = json.loads(note.read_text())["address"]
        started = [self.worker(*options, wait=False) for _ in range(n_workers)]
        wait_until(lambda: all("Registered to" in self.log(worker) for worker in started))

    def worker(self, *options, before=(), wait=True, **environment):
        """One more, of one thread. before: words of a command that runs it."""
        words = ("worker", self.address, "--nthreads", 1, "--no-dashboard", *options)
        started = self._popen(*before, *DASK, *words, **environment) if before or environment else self._warm(*words)
        self.workers.append(started)
        if wait:
            wait_until(lambda: "Registered to" in self.log(started))
        return started

    def kill_worker(self, number=0):
        """kill −9 of the process that works: its nanny, where it has one, starts another."""
        family = psutil.Process(self.workers[number].pid).children()
        own = [child for child in family if "spawn_main" in " ".join(child.cmdline())]
        (own[0] if own else self.workers[number]).kill()

    def log(self, process):
        """What it has written."""
        return next(path for one, path in self._logs if one is process).read_text()

    def close(self):
        """Whatever is still there ends, with the processes that nannies have started."""
        for process, _ in self._logs[::-1]:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _warm(self, *words):
        log = self.folder / f"{len(self._logs)}.log"
        process = Warm("dask.__main__", words, self.folder, ENVIRONMENT, (log, log))
        self._logs.append((process, log))
        return process

    def _popen(self, *words, **environment):
        log = self.folder / f"{len(self._logs)}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                list(map(str, words)), cwd=self.folder, env={**ENVIRONMENT, **environment}, stdout=stream,
                stderr=stream, start_new_session=True,
            )  # fmt: skip
        self._logs.append((process, log))
        return process
