"""Progress bars, for whatever takes longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

BAR = "{l_bar}{bar}| {n:.0f}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}]"


@contextmanager
def progress_bar(total: int, unit: str, what: str, quiet: bool) -> Iterator[Callable[[float], object]]:
    """A bar with rate and remaining time; none when quiet or when nobody watches. Steps may be parts of a unit."""
    scale: dict[str, Any] = {"unit_scale": True, "unit_divisor": 1000} if unit == "B" else {"bar_format": BAR}
    with tqdm(
        total=total, unit=unit, desc=what, disable=quiet or None, dynamic_ncols=True, leave=False, **scale
    ) as bar:
        yield bar.update
