"""How far a LASSO fit is: told by the work that it does, not by the targets that are finished.

Nearly all the time of a few targets goes to counting rows of the Gram matrix, and most of it to the last λ of a path.
How many rows that will be is not known beforehand. So with each piece of work that is done in a time t, and r the time
that the rest is expected to take, the share that is left, L, becomes

    L ← L·r/(t + r).

It falls with every piece, whatever becomes of r, and a time to go that is read off it is about r.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Literal, TypeAlias

Progress: TypeAlias = Callable[[float], object]
Kind: TypeAlias = Literal["masks", "rows", "paths"]

TRANSPOSING = 400.0
MOMENTS, PATH, REFIT = 5.0, 11.0, 4.0
"""What transposing the masks, a target's sums of margins, its path and its last fit cost: so many rows' counting. As
measured at 300,000 × 50,000; as soon as time was spent on them, that counts."""
NEAR_A_PATH, NEAR_A_WEIGHT = 0.15, 1.2
"""The share of all images that a path comes near, as long as none has ended: likewise; and how many to each weight."""
MORE_ROWS = 0.1
"""Of the rows that were counted: what is thought to come where these are more than was thought."""
STEPS = 0.6
"""The share of its λ that a path goes down before it ends."""


class Meter:
    """Steps that add up to `total`, as the work gets done; from one thread at a time.

    Parameters
    ----------
    tell : called with each step.
    targets : whose paths come near images that have no row yet; 0 where all rows are there.
    columns : the number of images.
    paths : of all targets, what MOMENTS, PATH and REFIT add up to.
    masks : TRANSPOSING where they have to be transposed yet.
    """

    def __init__(
        self, tell: Progress, total: float, *, targets: float, columns: float, paths: float, masks: float = 0.0
    ) -> None:
        self._tell, self._total, self._left = tell, total, 1.0
        self._targets, self._columns, self._paths = targets, columns, paths
        self._masks, self._near, self._ended = masks, NEAR_A_PATH, 1
        self._kept, self._until = columns, 0.0
        self._done: dict[Kind, float] = {"masks": 0.0, "rows": 0.0, "paths": 0.0}
        self._timed: dict[Kind, float] = dict.fromkeys(self._done, 0.0)
        self._seconds: dict[Kind, float] = dict.fromkeys(self._done, 0.0)
        """What work with a known time took: not the first piece of a kind, which may have been compiled first."""
        self._last, self._lock = monotonic(), Lock()

    def transposed(self, share: float) -> None:
        """This share of the masks is transposed."""
        self._did("masks", share * TRANSPOSING)

    def counted(self, rows: float) -> None:
        """Rows of the Gram matrix, or parts of them; read from another row is not counted."""
        self._did("rows", rows)

    def walked(self, work: float) -> None:
        """So much of MOMENTS, PATH or REFIT is done."""
        self._did("paths", work)

    def spared(self, work: float) -> None:
        """Work of paths that need not be done."""
        with self._lock:
            self._paths -= work

    def ended(self, weights: int) -> None:
        """A path has ended with so many weights."""
        with self._lock:
            self._near += min(1.0, NEAR_A_WEIGHT * weights / self._columns)
            self._ended += 1

    def keeps(self, rows: int) -> None:
        """There is memory for so many rows."""
        with self._lock:
            self._kept = min(float(rows), self._columns)

    def awaits(self, rows: float) -> None:
        """At least so many rows, or as much work, are to be counted next."""
        with self._lock:
            self._until = self._done["rows"] + rows

    def finish(self) -> None:
        """All is done."""
        with self._lock:
            self._step(self._left)

    def seconds_left(self) -> float:
        """As things stand: the rows that are still to be counted, and the paths.

        It is at least a little more than what was done while there are paths to come. Rows beyond what was expected are
        counted again, because memory did not hold them: as many will be for each path to come.
        """
        done, to_come = self._done["rows"], max(0.0, self._paths - self._done["paths"])
        more = MORE_ROWS * done * to_come / max(to_come + self._done["paths"], PATH)
        rows = max(self._rows_in_all(), min(done + more, self._columns / 2.0), self._until)
        left = {kind: max(0.0, all_of - self._done[kind]) for kind, all_of in self._expected(rows).items()}
        again = max(0.0, done - rows) * self._rate("rows") / max(self._done["paths"], PATH)
        return sum(work * self._rate(kind) for kind, work in left.items()) + left["paths"] * again

    def _rows_in_all(self) -> float:
        """As much counting as all targets need.

        Where each of T targets comes near a share p of d images, R = d·(1 − (1 − p)ᵀ) rows are needed. A row is counted
        with the images that have none yet, so with r rows in memory it is 1 − r/d rows' work: of the first C that are
        kept C − C²/2d, of each further one 1 − C/d. Of the pd rows that a path needs, and once more its refit, a share
        1 − C/R is no longer there.
        """
        near, d, kept = min(1.0, self._near / self._ended), self._columns, self._kept
        needed = d * (1.0 - float((1.0 - near) ** self._targets))
        held = min(needed, kept)
        again = 2.0 * self._targets * near * d * (1.0 - held / needed) if needed > 0.0 else 0.0
        return held * (1.0 - held / (2.0 * d)) + (needed - held + again) * (1.0 - held / d)

    def _expected(self, rows: float) -> dict[Kind, float]:
        return {"masks": self._masks, "rows": rows, "paths": self._paths}

    def _rate(self, kind: Kind) -> float:
        """Seconds for one row's counting, or for as much work; that of all kinds until this one was timed."""
        timed, seconds = self._timed[kind], self._seconds[kind]
        if timed < 1.0:
            timed, seconds = sum(self._timed.values()), sum(self._seconds.values())
        return seconds / timed if timed > 0.0 else 0.0

    def _did(self, kind: Kind, work: float) -> None:
        with self._lock:
            now = monotonic()
            took, self._last = now - self._last, now
            if self._done[kind] > 0.0:
                self._timed[kind] += work
                self._seconds[kind] += took
            self._done[kind] += work
            if took > 0.0 and any(self._timed.values()):
                self._step(self._left * took / (took + self.seconds_left()))

    def _step(self, share: float) -> None:
        self._left -= share
        if share > 0.0:
            self._tell(share * self._total)


@contextmanager
def metered(progress: Progress | Meter | None, total: int, **expected: float) -> Iterator[Meter | None]:
    """`progress` itself if it is a meter of more than this, or else a meter that tells it, and that is finished here.

    `expected` are parameters of `Meter`.
    """
    if progress is None or isinstance(progress, Meter):
        yield progress
    else:
        meter = Meter(progress, total, **expected)
        yield meter
        meter.finish()
