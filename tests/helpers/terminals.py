"""A real terminal for tests: the other end of a pseudo-terminal."""

import os
import pty
import termios
from contextlib import contextmanager, redirect_stderr

MARK = "<mark>"


@contextmanager
def terminal():
    """Standard error on a pseudo-terminal; gives what was written to it since it was asked last."""
    primary, secondary = pty.openpty()
    termios.tcsetwinsize(secondary, (24, 100))

    left = b""

    def written():
        """Up to a mark of our own, because the kernel hands it over in its own time. What another thread has written
        after it is for the next time."""
        nonlocal left
        file.write(MARK)
        file.flush()
        while MARK.encode() not in left:
            left += os.read(primary, 1 << 16)
        text, _, left = left.partition(MARK.encode())
        return text.decode()

    with os.fdopen(secondary, "w") as file, redirect_stderr(file):
        yield written
    os.close(primary)
