"""`kill -9` of a run with all its processes: at moments spread over the work of each stage, and at each kind of moment.

Half of the kills come from outside, at random times of a run as a user starts it; half at a chosen event of a fork, so
that each kind of moment is met. Then the same command is run again: it must end with the bytes of an undisturbed run,
leave nothing behind and make no finished step a second time.
"""

import contextlib
import os
import random
import shutil
import signal
import time

from commands import start_real, wait_until
from file_events import read_events
from kill_places import MOMENTS, STAGES, moment_of_last, moments_of, place_of
from settled import difference
from tries import Outcome, Row, Try, spread, survey

ENOUGH = 100
"""Kills, of which each kind of moment must have been met."""


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", stages=STAGES):
    """The rows of so many kills, by stages."""
    rng = random.Random(seed)
    tries = [one for one in _tries(count, stages, ground, rng) if only in one.label]
    rows = survey("kill -9", tries, ground, watcher)
    hit = sum((row.moments for row in rows), start=Row("", "").moments)
    missed = [moment for moment in MOMENTS if not hit[moment]] if count >= ENOUGH and not only else []
    if missed and rows:
        rows[-1].failures.append(("all kills", f"none came {', '.join(missed)}"))
    return rows


def _tries(count, stages, ground, rng):
    """Times, of which a handful of kills has one, then events. How long a stage takes is measured when it is needed."""
    seconds = {}
    places = {stage: place_of(ground, stage) for stage in stages}
    at_times = [stages[k % len(stages)] for k in range(count // 2 if count >= len(STAGES) else 1)]
    events = {}
    for stage, place in places.items():
        for moment, numbers in moments_of(place, ground).items():
            events[stage, moment] = [(stage, moment, n) for n in numbers]
    for stage in at_times:
        share = rng.uniform(0.0, 1.05)
        yield Try(stage, f"{stage} at {share:.3f} of its time", _AtTime(places[stage], share, ground, seconds))
    for stage, moment, n in spread(events, count - len(at_times), rng):
        yield Try(stage, f"{stage} at event {n}, {moment}", _AtEvent(places[stage], n, ground))


class _AtTime:
    def __init__(self, place, share, ground, seconds):
        self.place, self.share, self.ground, self.seconds = place, share, ground, seconds

    def __call__(self, folder):
        place, ground = self.place, self.ground
        if place.stage not in self.seconds:
            self.seconds[place.stage] = _undisturbed(place, ground)
        whole = self.seconds[place.stage]
        place.prepare(folder)
        with start_real(folder, *place.words) as process:
            wait_until(lambda: place.has_begun(folder), process)
            begun = time.time()
            wait_until(lambda: time.time() > begun + self.share * whole, process)
            with contextlib.suppress(ProcessLookupError):  # It has ended.
                os.killpg(process.pid, signal.SIGKILL)
        return run_again(place, folder, ground, place.moment(folder))


class _AtEvent:
    def __init__(self, place, number, ground):
        self.place, self.number, self.ground = place, number, ground

    def __call__(self, folder):
        self.place.prepare(folder)
        log = self.ground.folder / "killed-events"
        log.unlink(missing_ok=True)
        done = self.ground.forks.run(folder, *self.place.words, events=log, kill_at=self.number)
        if done.code not in (-signal.SIGKILL, 0):
            return Outcome("failed", f"it ended with {done.code} before the kill: {done.err}")
        moment = moment_of_last(self.place, log) if done.code else MOMENTS[-1]
        return run_again(self.place, folder, self.ground, moment)


def _undisturbed(place, ground):
    """Seconds of the stage's own work, as a user starts it."""
    folder = place.prepare(ground.folder / "undisturbed")
    with start_real(folder, *place.words) as process:
        wait_until(lambda: place.has_begun(folder), process)
        begun = time.monotonic()
        wait_until(lambda: place.has_ended(folder), process)
        seconds = time.monotonic() - begun
    shutil.rmtree(folder)
    return max(0.05, seconds)


def run_again(place, folder, ground, moment):
    """The same command after a kill: the bytes of an undisturbed run, and no finished step made again."""
    finished, rows, log = place.steps(folder), place.rows(folder), ground.folder / "again-events"
    log.unlink(missing_ok=True)
    seen = len(ground.bucket.log.requests) if place.stage == "download" else 0
    done = ground.forks.run(folder, *place.words, events=log)
    if done.code != 0:
        return Outcome("refused", f"the next run ended with {done.code}: {done.err.strip()}", moment=moment)
    why = difference(folder, place.expected)
    twice = [event[-1] for event in read_events(log) if event[0] == "os.rename" and event[-1] in finished]
    twice += [f"rows {a} to {b} of {name}" for name, a, b in _fetched_again(rows, ground, seen)]
    if twice:
        why = "; ".join(filter(None, (why, f"made again though finished: {', '.join(twice[:3])}")))
    return Outcome("went on", why, len(finished) + len(rows), moment)


def _fetched_again(rows, ground, seen):
    """Of the rows that were noted, those that the server was asked for again."""
    if not rows:
        return
    widths = {"train_masks_50pct.npy": 60, "test_margins_50pct.npy": 24}
    for request in ground.bucket.log.requests[seen:]:
        name = request.path.rpartition("/")[2]
        if request.stop - request.start <= 128 or name not in widths:
            continue
        first, last = ((place - 128) // widths[name] for place in (request.start, request.stop))
        yield from ((name, a, b) for n, a, b in rows if n == name and first < b and a < last)
