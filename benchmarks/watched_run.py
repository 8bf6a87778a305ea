"""A command as its user sees it: on a pseudo-terminal or a pipe, with the times of all that it says, and its memory."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TICK = 0.1
COLUMNS = 120
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CLOCKS = re.compile(r"\[[^]]*\]|\d+(\.\d+)? ?s\b|\b\d+:\d\d(:\d\d)?")
"""What of a bar moves by itself: its brackets with times and rate."""


@dataclass(frozen=True)
class Silence:
    """So many seconds, and the line that stood there meanwhile."""

    seconds: float
    after: str


@dataclass
class Watched:
    """A command that has ended.

    said: (seconds since the start, text) of everything that came. own_bytes: the most memory of its own that it and its
    children had, without pages of mapped files; resident_bytes: with them.
    """

    code: int = 0
    seconds: float = 0.0
    started: float = 0.0
    said: list[tuple[float, str]] = field(default_factory=list)
    own_bytes: int = 0
    resident_bytes: int = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(text for _, text in self.said)

    def silences(self) -> list[Silence]:
        """Between two outputs, and before the first and after the last; the longest first."""
        found, before, line = [], 0.0, ""
        for now, shown in [*self._shown(), (self.seconds, "")]:
            found.append(Silence(now - before, line))
            before, line = now, shown
        return sorted(found, key=lambda silence: -silence.seconds)

    def stands(self) -> list[Silence]:
        """As `silences`, but a bar that is drawn again with nothing new but its clock says nothing; longest first."""
        found, since, before = [], 0.0, ""
        for now, shown in [*self._shown(), (self.seconds, "end")]:
            if (new := CLOCKS.sub("", shown)) != before:
                found.append(Silence(now - since, before))
                since, before = now, new
        return sorted(found, key=lambda silence: -silence.seconds)

    def _shown(self) -> Iterator[tuple[float, str]]:
        """What stands in the last line that holds anything, after each output; a line may come in several."""
        unfinished = shown = ""
        for now, text in self.said:
            *_, unfinished = lines = re.split(r"[\r\n]", unfinished + text)
            words = [ESCAPES.sub("", line).strip() for line in lines]
            shown = next((line for line in reversed(words) if line), shown)
            yield now, shown


def watch(command: Sequence[str], folder: Path, environment: Mapping[str, str], *, terminal: bool) -> Watched:
    """Run it to its end in `folder`."""
    ours, its = pty.openpty() if terminal else os.pipe()
    if terminal:
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    seen = Watched(started=time.monotonic())
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=its if terminal else subprocess.DEVNULL, stdout=its, stderr=its,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(its)
        try:
            while _listen(ours, seen):
                _weigh(process.pid, seen)
        except BaseException:  # A session of its own does not hear of Ctrl-C.
            process.kill()
            raise
        seen.code = process.wait()
    seen.seconds = time.monotonic() - seen.started
    os.close(ours)
    return seen


def _listen(descriptor: int, seen: Watched) -> bool:
    """Whether there may be more to come."""
    if not select.select([descriptor], [], [], TICK)[0]:
        return True
    try:
        content = os.read(descriptor, 2**16)
    except OSError:  # So ends a pseudo-terminal.
        return False
    if content:
        seen.said.append((time.monotonic() - seen.started, content.decode(errors="replace")))
    return bool(content)


def _weigh(pid: int, seen: Watched) -> None:
    """Keep the largest sums over a process and its children."""
    own = resident = 0
    for one in _family(pid):
        try:
            status = Path(f"/proc/{one}/status").read_text()
        except OSError:  # It has just ended.
            continue
        kb = {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB", status, re.MULTILINE)}
        own += 1024 * (kb.get("RssAnon", 0) + kb.get("RssShmem", 0))
        resident += 1024 * kb.get("VmRSS", 0)
    seen.own_bytes, seen.resident_bytes = max(seen.own_bytes, own), max(seen.resident_bytes, resident)


def _family(pid: int) -> list[int]:
    try:
        children = [
            int(word) for file in Path(f"/proc/{pid}/task").glob("*/children") for word in file.read_text().split()
        ]
    except OSError:
        children = []
    return [pid, *(one for child in children for one in _family(child))]
