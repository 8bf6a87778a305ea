"""The command line in this process: the same words in, the same exit code and lines out.

For tests of what a command does. Those of what becomes of its process (kills, locks, limits, terminals, time) take
`real_command`, where each start of Python, numba and torch costs seconds. A warning is an error here.
"""

import contextlib
import io
import subprocess
import sys
from unittest.mock import patch

from progress_lines import without_progress

from pipeline.cli import main


def call(folder, *arguments):
    words = ["datamodels-inf", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(patch.object(sys, "argv", words))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return subprocess.CompletedProcess(words, code, out.getvalue(), without_progress(err.getvalue()))


def ok(folder, *arguments):
    done = call(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
