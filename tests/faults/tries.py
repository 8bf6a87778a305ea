"""One try of a fault after the other, whatever becomes of them, and the table of what became."""

import json
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Outcome:
    """What became of a try. how: a word for it. why: if something was lost, what. moment: when the fault came. work: of
    steps, what the next run had to do."""

    how: str
    why: str = ""
    moment: str = ""
    work: "Work | None" = None


@dataclass(frozen=True)
class Work:
    """Steps in all, those that the next run made, and how many of these the killed run had begun."""

    steps: int
    made: int
    twice: int


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
    how: Counter = field(default_factory=Counter)
    moments: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    works: list = field(default_factory=list)

    def count(self, label, outcome):
        """One more try."""
        self.tries += 1
        self.how[outcome.how] += 1
        if outcome.work is not None:
            self.works.append(outcome.work)
        if outcome.moment:
            self.moments[outcome.moment] += 1
        if outcome.why:
            self.lost += 1
            self.failures.append((label, outcome.why))
        else:
            self.survived += 1

    def add(self, other):
        """The same row, of another process."""
        for name in ("tries", "survived", "lost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("how", "moments"):
            getattr(self, name).update(getattr(other, name))
        self.failures += other.failures
        self.works += other.works


def write_rows(rows, file):
    """[(kind, row)], for `read_rows`."""
    told = [[kind, vars(row) | {"works": [asdict(work) for work in row.works]}] for kind, row in rows]
    file.write_text(json.dumps(told), encoding="utf-8")


def read_rows(file):
    """[(kind, row)]."""
    found = []
    for kind, row in json.loads(file.read_text(encoding="utf-8")):
        row |= {name: Counter(row[name]) for name in ("how", "moments")}
        row |= {"works": [Work(**one) for one in row["works"]], "failures": [tuple(one) for one in row["failures"]]}
        found.append((kind, Row(**row)))
    return found


def joined(rows):
    """[(kind, row)] of several processes: one of each kind, fault and place, in the order in which they came."""
    found = {}
    for kind, row in rows:
        found.setdefault((kind, row.fault, row.where), Row(row.fault, row.where)).add(row)
    kinds = list(dict.fromkeys(kind for kind, _ in rows))
    return [(kind, row) for (kind, _, _), row in sorted(found.items(), key=lambda item: kinds.index(item[0][0]))]


def survey(fault, tries, ground, watcher):
    """The rows of all tries that are this ground's; a failure is kept and the next one tried."""
    rows = {}
    for one in watcher(fault, list(tries)[ground.part :: ground.parts]):
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
