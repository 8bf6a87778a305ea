"""Which steps a run has begun, noted by the process that begins them: so that what is made twice can be counted.

A step is a unit of a place's work (a batch of models or of fits, a chunk of pairs, a tile), a part of the referee's
targets, or a run of rows of a download. Notes are lines of the file that the environment names, from all processes of a
run: this one, those that train, and the workers of a cluster.
"""

import hashlib
import os
import pickle
from functools import wraps
from pathlib import Path

NAME = "FAULTS_BEGUN"
ROWS = "rows"


def note_begun():
    """From now on, in this process and in those that it forks."""
    import pipeline.places.base as base
    import pipeline.places.processes as processes
    import pipeline.places.worker as worker
    import pipeline.remote.mirror as mirror
    import pipeline.stages.referee.target_parts as target_parts

    in_order, in_process, in_worker = base.InProcess.done, processes._make, worker.make
    of_targets, of_rows = target_parts.TargetParts._part, mirror.Mirror.write

    def noted(units):
        for unit in units:  # It is asked for when it is begun.
            _note(unit)
            yield unit

    @wraps(in_process)  # With its name, by which other processes are told to call it.
    def in_process_noted(unit):
        _note(unit)
        return in_process(unit)

    @wraps(in_worker)
    def in_worker_noted(work, unit, expected):
        _note(pickle.loads(unit))
        return in_worker(work, unit, expected)

    def of_targets_noted(self, places, advance):
        _note(places)
        return of_targets(self, places, advance)

    def of_rows_noted(self, start, stop, blocks):
        _write(f"{ROWS}\t{self.file.parent.name}\t{start}\t{stop}")
        of_rows(self, start, stop, blocks)

    base.InProcess.done = lambda self, work, units, advance: in_order(self, work, noted(units), advance)
    processes._make, worker.make = in_process_noted, in_worker_noted
    target_parts.TargetParts._part, mirror.Mirror.write = of_targets_noted, of_rows_noted


def _note(unit):
    """Known by all it is, and to people by how that begins."""
    text = " ".join(repr(unit).split())
    _write(f"{text[:60]} {hashlib.sha256(text.encode()).hexdigest()[:12]}")


def _write(line):
    if place := os.environ.get(NAME):
        file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(file, f"{line}\n".encode())
        os.close(file)


def read_begun(place):
    """The lines, in their order."""
    return Path(place).read_text(encoding="utf-8").splitlines() if Path(place).is_file() else []


def made_twice(before, after):
    """Of the steps that a killed run had begun, those that the next one began too: {step}."""
    return {one for one in before if any(_same(one, other) for other in after)}


def n_rows(lines):
    """Of all mirrors together."""
    return sum(stop - first for _, first, stop in map(_rows, lines))


def _same(one, other):
    if not one.startswith(f"{ROWS}\t") or not other.startswith(f"{ROWS}\t"):
        return one == other
    (mirror, first, stop), (its_mirror, its_first, its_stop) = _rows(one), _rows(other)
    return mirror == its_mirror and first < its_stop and its_first < stop  # A kill may have moved where runs begin.


def _rows(line):
    _, mirror, first, stop = line.split("\t")
    return mirror, int(first), int(stop)
