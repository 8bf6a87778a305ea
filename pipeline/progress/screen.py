"""Where progress shows: a bar that is drawn again every second on a terminal, lines in a log where there is none.

Of pieces of work inside each other only the innermost shows. A bar goes out of the way of a line that is printed and
of a question (`Screen.paused`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from pipeline.progress.pace import Pace
from pipeline.progress.words import State, line, right_side, spoken
from pipeline.text.given_names import one_line

BEAT, REDRAWN = 0.5, 0.1
"""Seconds between two looks at what to show, and between two drawings of a bar that moves."""
SOON, EVERY = 2.0, 30.0
"""In a log: seconds until a piece of work is first told of, and between two lines."""


class Work:
    """A piece of work. total: None where nobody knows it, or there is nothing to count."""

    def __init__(self, what: str, unit: str, total: float | None, stream: TextIO) -> None:
        self.what, self.unit, self.total, self.stream = one_line(what), unit, total, stream
        self.done = 0.0
        self.began = time.monotonic()
        self._pace = Pace(self.began)
        self._noted = 0.0

    def state(self, now: float) -> State:
        """How far it is."""
        if self.done > self._noted:
            self._noted = self.done
            self._pace.note(now, self.done)
        done = self.done if self.total is None else min(self.done, self.total)
        return State(self.what, self.unit, done, self.total, now - self.began, self._pace.rate(now))


class Screen:
    """All work that is under way, the innermost last."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[Work] = []
        self._drawn: TextIO | None = None
        """Where a bar stands now."""
        self._drawn_at = 0.0
        self._told: dict[str, float] = {}
        self._told_at = time.monotonic()
        self._heart: threading.Thread | None = None

    def begin(self, work: Work) -> None:
        """Show it until it ends or another begins inside it."""
        with self._lock:
            self._clear()
            self._open.append(work)
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="progress", daemon=True)
                self._heart.start()

    def end(self, work: Work) -> None:
        """No trace of it stays on a terminal."""
        with self._lock:
            self._open.remove(work)
            self._clear()

    def advance(self, work: Work, step: float) -> None:
        """So much more is done."""
        with self._lock:
            work.done += step
            now = time.monotonic()
            if now - self._drawn_at >= REDRAWN and _is_terminal(work.stream):
                self._show(now)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is drawn meanwhile, and no bar stands in the way."""
        with self._lock:
            self._clear()
            yield
            self._told_at = time.monotonic()

    def forget(self) -> None:
        """In a forked process, which has neither the work nor the thread."""
        self.__init__()  # type: ignore[misc]

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT)
            with self._lock:
                if not self._open:
                    self._heart = None
                    return
                self._show(time.monotonic())

    def _show(self, now: float) -> None:
        work = self._open[-1]
        state = work.state(now)
        with contextlib.suppress(OSError, ValueError):  # Nobody looks any more, which is no reason to stop.
            if _is_terminal(work.stream):
                if work.total is not None or state.elapsed >= SOON:
                    self._draw(work.stream, bar(state, *_room(work.stream)), now)
            elif self._is_due(work, state, now):
                self._told[work.what] = self._told_at = now
                print(line(state), file=work.stream, flush=True)

    def _is_due(self, work: Work, state: State, now: float) -> bool:
        """Of work that counts, soon after its start; of other work, where nothing else was printed for long."""
        if work.total is None:
            return min(now - self._told_at, state.elapsed) >= EVERY
        return state.elapsed >= SOON and now - self._told.get(work.what, -EVERY) >= EVERY

    def _draw(self, stream: TextIO, text: str, now: float) -> None:
        stream.write(f"\r{text}\x1b[K")
        stream.flush()
        self._drawn, self._drawn_at = stream, now

    def _clear(self) -> None:
        if self._drawn is not None:
            with contextlib.suppress(OSError, ValueError):
                self._drawn.write("\r\x1b[K")
                self._drawn.flush()
            self._drawn = None


def bar(state: State, width: int, plain: bool) -> str:
    """One line for a terminal of `width` columns. plain: of letters alone."""
    if state.total is None:
        return f"{state.what}: working, {spoken(state.elapsed)}"[: width - 1]
    from tqdm import tqdm  # Slow to import.

    right = right_side(state).replace("{", "{{").replace("}", "}}")
    return str(
        tqdm.format_meter(
            state.done,
            state.total,
            state.elapsed,
            ncols=max(1, width - 1),
            ascii=plain,
            prefix=state.what,
            bar_format="{l_bar}{bar}| " + right,
        )
    )


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # It was closed.
        return False


def _room(stream: TextIO) -> tuple[int, bool]:
    """Its columns, and whether it takes nothing but plain letters."""
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        width = 0
    return width or 80, "utf" not in (stream.encoding or "").lower()


SCREEN = Screen()
if hasattr(os, "register_at_fork"):  # Not on Windows.
    os.register_at_fork(after_in_child=SCREEN.forget)
