"""What a place is given to do, and the place that does it here and now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from pipeline.store.unfinished_steps import Arrays

Advance: TypeAlias = Callable[[float], object]
"""Is told how many further steps of the bar are done."""
U = TypeVar("U")
V = TypeVar("V", contravariant=True)


class Maker(Protocol[V]):
    """A work that has been opened: it holds what all units need, such as mapped masks."""

    def __call__(self, unit: V, advance: Advance, /) -> Arrays:
        """The arrays of a unit; `advance` is told of parts of it, which add up to its size."""


class Work(Protocol[V]):
    """How units are made. It travels: it and its units are pickled, so they hold settings and absolute paths of files
    below the folder that workers must see, and no arrays of masks or margins."""

    def open(self, threads: int) -> Maker[V]:
        """Called once in each process that makes units, which may then use so many threads."""

    def size(self, unit: V) -> float:
        """How many steps of the bar it is."""


class Place(Protocol):
    """Makes units of work."""

    @property
    def remote(self) -> bool:
        """Whether units are made outside of this machine's processes, so that only what is pickled reaches them."""

    def done(self, work: Work[U], units: Iterable[U], advance: Advance) -> Iterator[tuple[U, Arrays]]:
        """(unit, its arrays) in the order in which they are finished; `advance` hears of all steps.

        `units` is asked for more only as some are finished. Whoever stops early cancels what is under way.
        """

    def visible(self, path: Path, folder: Path) -> Path:
        """A path by which every process that makes units can read this file: itself, or a copy in `folder`."""

    def forget(self) -> None:
        """Close what is open: a work stays open after `done`, for more of its units."""


@dataclass
class InProcess:
    """One unit after the other, each with `threads` threads."""

    threads: int
    remote: bool = False
    _opened: tuple[Work[Any], Maker[Any]] | None = None

    def done(self, work: Work[U], units: Iterable[U], advance: Advance) -> Iterator[tuple[U, Arrays]]:
        """As they come; the work is opened with the first."""
        for unit in units:
            if self._opened is None or self._opened[0] is not work:
                self.forget()
                self._opened = work, work.open(self.threads)
            yield unit, self._opened[1](unit, advance)

    def visible(self, path: Path, folder: Path) -> Path:
        """The path itself: this process sees all files."""
        return path

    def forget(self) -> None:
        """Give the memory back."""
        self._opened = None
