"""A fit by the real command that is killed on its way."""

import signal
import subprocess
import time

from real_command import COMMAND


def fit_stopped_when(folder, pattern, *arguments):
    """Start a fit, kill it as soon as a file like `pattern` is there, and say in which folder that is."""
    process = subprocess.Popen([*COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (found := list(folder.glob(f"data/fit/.work-*/{pattern}"))):
        assert process.poll() is None, "the fit ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return found[0].parent
