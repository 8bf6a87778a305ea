"""A process that has imported everything and runs commands in forks of itself: each is fresh, and starts at once.

Python, numba and torch take seconds to start, and thousands of commands are run. A fork has no state of another; it
runs `main` of the command line in a session of its own, so that it can be killed with all that it started. Requests are
lines of JSON on a socket, one a connection; the answers are the process id and, when it has ended, its status.
"""

import importlib
import json
import multiprocessing
import os
import resource
import runpy
import select
import signal
import socket
import sys
from pathlib import Path

SMALL = "FAULTS_IN_SMALL_STEPS"
"""In the environment of commands whose steps are small, and so of what they spawn."""


def serve(place, small=True):
    """Until the starter closes our standard input, or is gone. small: in small steps."""
    prepare(small)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for those in the middle.
    os.write(1, b"ready\n")
    while True:
        asked, _, _ = select.select([listener, 0], [], [])
        if 0 in asked:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(connection)
            os._exit(0)
        connection.close()


def prepare(small):
    """Everything that a command imports, and the compiled loops."""
    import numpy as np
    import pyarrow.parquet
    import statsmodels.stats.multitest
    import torch
    from small_steps import make_small

    import pipeline.places.processes as processes
    from datamodels_inf.kernels.ahead import EVERYTHING, load
    from pipeline.cli import cli
    from pipeline.run import Pipeline
    from pipeline.stages.report.content import content_of

    assert all((np, pyarrow.parquet, statsmodels.stats.multitest, torch, cli, Pipeline, content_of))
    load(EVERYTHING)
    if small:
        make_small()
        os.environ[SMALL] = "1"
    # Models are trained by forks too: nothing has used torch's threads yet, and to spawn takes seconds. What is spawned
    # has not the handlers of its parent.
    start = processes._start

    def start_fork(work):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        start(work)

    processes._start = start_fork
    processes.get_context = lambda kind: multiprocessing.get_context("fork")


def answer(connection):
    """In the middle: start the command, tell its id and its end."""
    with connection.makefile("rw", encoding="utf-8") as talk:
        request = json.loads(talk.readline())
        pid = os.fork()
        if pid == 0:
            connection.close()
            os._exit(run(request))
        talk.write(f"{pid}\n")
        talk.flush()
        _, status = os.waitpid(pid, 0)
        talk.write(f"{os.waitstatus_to_exitcode(status)}\n")


def run(request):
    """The command, with its words, folder, output and limits; its exit code."""
    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        handle = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, buffering=1, encoding="utf-8") for number, mode in enumerate("rww")
    )
    os.chdir(request["folder"])
    if request.get("no_more"):
        os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request.get("script") or "datamodels-inf", *request["words"]]
    if request["file_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"],) * 2)
    if request["events"] or request["kill_at"] or request["stop_at"]:
        from file_events import watch

        watch(request["folder"], request["events"], request["kill_at"], request["stop_at"])
    try:
        begin(request)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    return code


def begin(request):
    """`main` of the command line, or a script as `python` runs it; before that, a function that the request names."""
    if request.get("before"):
        module, _, name = request["before"].partition(":")
        getattr(importlib.import_module(module), name)()
    if not request.get("script"):
        from pipeline.cli import main

        return main()
    sys.path.insert(0, str(Path(request["script"]).resolve().parent))
    return runpy.run_path(request["script"], run_name="__main__")


if __name__ == "__main__":
    HERE = Path(__file__).parent
    sys.path[0:1] = [str(HERE), str(HERE.parent / "helpers"), str(HERE.parents[1])]
    serve(sys.argv[1], small="--large" not in sys.argv)
elif __name__ == "__mp_main__" and SMALL in os.environ:  # A worker of a command's cluster, which is spawned.
    from small_steps import make_small

    make_small()
