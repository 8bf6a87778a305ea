"""A command that is killed on its way."""

import subprocess
import time


def killed_when(command, folder, pattern, at_least=1):
    """Start `command` in `folder` as a process of its own, and kill it by `kill_when`."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return kill_when(process, folder, pattern, at_least)


def kill_when(process, folder, pattern, at_least=1):
    """Kill it as soon as files like `pattern` are there, and name these."""
    deadline = time.monotonic() + 120
    while len(found := sorted(folder.glob(pattern))) < at_least:
        assert process.poll() is None, "the command ended before it could be killed"
        assert time.monotonic() < deadline, f"no {pattern} in two minutes"
        time.sleep(0.002)
    process.kill()
    process.wait()
    return found
