"""What a process does to files, seen by Python before it happens: to list it, or to end or stop the process at one.

An event is what changes a folder: a file opened to be written, a move, a link, a folder made, something removed. A kill
at event n is the state that events 1 to n − 1 left, and the same each time.
"""

import contextlib
import os
import signal
import sys
from pathlib import Path

CHANGES = {
    "os.rename": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.link": 2, "os.truncate": 1, "os.symlink": 2,
}  # fmt: skip
"""Event → how many of its arguments are paths."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def watch(folder, log=None, kill_at=None, stop_at=None):
    """From now on: events under `folder` go to the file `log`, a line each; at one of them the group ends, or stops."""
    home, here = f"{Path(folder).resolve()}{os.sep}", os.getpid()
    kept = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    count = 0

    def see(event, arguments):
        nonlocal count
        paths = _paths(event, arguments)
        if not paths or not any(path.startswith(home) for path in paths) or os.getpid() != here:
            return
        count += 1
        if kept is not None:
            short = [path.removeprefix(home) for path in paths]
            os.write(kept, ("\t".join((event, *short)) + "\n").encode())
        if count == kill_at:
            os.killpg(0, signal.SIGKILL)
        if count == stop_at:
            os.kill(here, signal.SIGSTOP)

    sys.addaudithook(see)


def _paths(event, arguments):
    if event == "open":
        path, _, flags = arguments
        writes = isinstance(flags, int) and flags & WRITES
        return [str(Path.cwd() / path)] if writes and isinstance(path, (str, os.PathLike)) else []
    return [_place(arguments, k) for k in range(CHANGES.get(event, 0))]


def _place(arguments, k):
    """Absolute; what is removed tree by tree is named by a folder's handle and a name in it."""
    path = arguments[k]
    if not isinstance(path, (str, os.PathLike)):
        return ""
    handle = arguments[-1] if isinstance(arguments[-1], int) and arguments[-1] >= 0 and len(arguments) == 2 else None
    home = Path.cwd()
    if handle is not None:
        with contextlib.suppress(OSError):
            home = Path(f"/proc/self/fd/{handle}").readlink()
    return str(home / path)


def read_events(log):
    """[(name, path, …)] in their order."""
    lines = Path(log).read_text(encoding="utf-8").splitlines() if Path(log).is_file() else []
    return [tuple(line.split("\t")) for line in lines]
