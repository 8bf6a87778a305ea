"""One try of a fault after the other, whatever becomes of them, and the table of what became."""

import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Outcome:
    """What became of a try. how: a word for it. why: if something was lost, what. kept: finished steps that were found,
    none of which was made again. moment: when the fault came."""

    how: str
    why: str = ""
    kept: int = 0
    moment: str = ""


@dataclass(frozen=True)
class Try:
    """One fault. where: the row of the table. label: what tells it from all others, the same in every run with the same
    seed. make: does it in a folder that is empty before and removed after."""

    where: str
    label: str
    make: Callable


@dataclass
class Row:
    """A line of the table: of so many tries of a fault, so many survived and so many lost. failures: (label, why)."""

    fault: str
    where: str
    tries: int = 0
    survived: int = 0
    lost: int = 0
    kept: int = 0
    how: Counter = field(default_factory=Counter)
    moments: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def count(self, label, outcome):
        """One more try."""
        self.tries += 1
        self.how[outcome.how] += 1
        self.kept += outcome.kept
        if outcome.moment:
            self.moments[outcome.moment] += 1
        if outcome.why:
            self.lost += 1
            self.failures.append((label, outcome.why))
        else:
            self.survived += 1


def survey(fault, tries, ground, watcher):
    """The rows of all tries; a failure is kept and the next one tried."""
    rows = {}
    for one in watcher(fault, tries):
        row = rows.setdefault(one.where, Row(fault, one.where))
        shutil.rmtree(ground.work, ignore_errors=True)
        try:
            outcome = one.make(ground.work)
        except Exception:
            outcome = Outcome("broken", traceback.format_exc(limit=-3))
        row.count(one.label, outcome)
        shutil.rmtree(ground.work, ignore_errors=True)
    return list(rows.values())


def spread(some, count, rng):
    """`count` of them, as evenly as can be over their groups: {group: [items]}, each in a random order."""
    groups = rng.sample(sorted(some, key=str), len(some))
    left = {group: rng.sample(some[group], len(some[group])) for group in groups if some[group]}
    chosen = []
    while left and len(chosen) < count:
        for group in list(left):
            chosen.append(left[group].pop())
            if not left[group]:
                del left[group]
    return chosen[:count]
