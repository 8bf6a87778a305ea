"""Units of work that note what becomes of them; worker processes import this file."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_held = []


@dataclass(frozen=True)
class Noted:
    """Units are numbers. folder: a file for each that was begun. n_bytes: of what each makes. deadly: the unit that
    ends its process; wrong: one that fails. seconds: that each takes. held: bytes that the first one leaves the process
    with."""

    folder: Path
    n_bytes: int = 8
    deadly: int = -1
    seconds: float = 0.0
    held: int = 0
    wrong: int = -1

    def size(self, unit):
        return 1.0

    def open(self, threads):
        (self.folder / f"open-{os.getpid()}-{threads}").touch()
        return self.make

    def make(self, unit, advance):
        (self.folder / f"{unit}").touch()
        if unit == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if unit == self.wrong:
            raise ZeroDivisionError
        if self.held and not _held:
            _held.append(np.ones(self.held, np.uint8))
        time.sleep(self.seconds)
        return {"number": np.full(self.n_bytes, unit % 256, np.uint8)}

    @property
    def begun(self):
        """Numbers of units."""
        return {int(path.name) for path in self.folder.iterdir() if path.name.isdigit()}

    @property
    def opened(self):
        """(process, threads) that opened the work."""
        names = [path.name.split("-") for path in self.folder.glob("open-*")]
        return {(int(process), int(threads)) for _, process, threads in names}
