"""`kill -9` of a run with all its processes: at moments spread over the work of each stage, and at each kind of moment.

Half of the kills come from outside, at random times of a run as a user starts it; half at a chosen event of a fork, so
that each kind of moment is met. Then the same command is run again. It must end with the bytes of an undisturbed run,
leave no file and no process behind, and make just those steps that are missing: of these, each process that had one in
hand may have begun one before.
"""

import contextlib
import os
import random
import shutil
import signal
import time

from begun_steps import NAME, made_twice, n_rows, read_begun
from commands import outliving, start_real, wait_until
from kill_places import CLUSTERED, IN_HAND, MOMENTS, STAGES, moment_of_last, place_of, saved_steps, undisturbed
from settled import difference
from tries import Outcome, Row, Try, Work, spread, survey

ENOUGH = 100
"""Kills, of which each kind of moment must have been met."""
KILLED = (*STAGES, *CLUSTERED)


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", stages=KILLED):
    """The rows of so many kills, by stages."""
    rng = random.Random(seed)
    tries = [one for one in _tries(count, stages, ground, rng) if only in one.label]
    return survey("kill -9", tries, ground, watcher)


def check(rows, count, only=""):
    """Of the rows of all parts: that every kind of moment was met."""
    hit = sum((row.moments for row in rows), start=Row("", "").moments)
    missed = [moment for moment in MOMENTS if not hit[moment]] if count >= ENOUGH and not only else []
    if missed and rows:
        rows[-1].failures.append(("all kills", f"none came {', '.join(missed)}"))


def _tries(count, stages, ground, rng):
    """Times, of which a handful of kills has one, then events. How long a stage takes is measured when it is needed."""
    seconds = {}
    places = {stage: place_of(ground, stage) for stage in stages}
    at_times = [stages[k % len(stages)] for k in range(count // 2 if count >= len(STAGES) else 1)]
    events = {}
    for stage, place in places.items():
        for moment, numbers in undisturbed(place, ground).moments.items():
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
            self.seconds[place.stage] = _duration(place, ground)
        whole = self.seconds[place.stage]
        place.prepare(folder)
        notes = _notes(ground, "killed-begun")
        with start_real(folder, *place.words, environment={NAME: str(notes)}) as process:
            wait_until(lambda: place.has_begun(folder, notes), process)
            begun = time.time()
            wait_until(lambda: time.time() > begun + self.share * whole, process)
            with contextlib.suppress(ProcessLookupError):  # It has ended.
                os.killpg(process.pid, signal.SIGKILL)
            left = outliving(process.pid)
        return run_again(place, folder, ground, place.moment(folder, notes), notes, left)


class _AtEvent:
    def __init__(self, place, number, ground):
        self.place, self.number, self.ground = place, number, ground

    def __call__(self, folder):
        self.place.prepare(folder)
        log, notes = _notes(self.ground, "killed-events"), _notes(self.ground, "killed-begun")
        environment = {NAME: str(notes)}
        done = self.ground.forks.run(
            folder, *self.place.words, events=log, kill_at=self.number, environment=environment
        )
        if done.code not in (-signal.SIGKILL, 0):
            return Outcome("failed", f"it ended with {done.code} before the kill: {done.err}")
        moment = moment_of_last(self.place, log) if done.code else MOMENTS[-1]
        return run_again(self.place, folder, self.ground, moment, notes, done.left)


def _notes(ground, name):
    place = ground.folder / name
    place.unlink(missing_ok=True)
    return place


def _duration(place, ground):
    """Seconds of the stage's own work, as a user starts it."""
    folder, notes = place.prepare(ground.folder / "undisturbed"), _notes(ground, "begun")
    with start_real(folder, *place.words, environment={NAME: str(notes)}) as process:
        wait_until(lambda: place.has_begun(folder, notes), process)
        begun = time.monotonic()
        wait_until(lambda: place.has_ended(folder), process)
        seconds = time.monotonic() - begun
    shutil.rmtree(folder)
    return max(0.05, seconds)


def run_again(place, folder, ground, moment, before, left):
    """The same command after a kill. before: the notes of the killed run. left: its processes that outlived it."""
    ended, finished, rows = place.has_ended(folder), place.steps(folder), place.rows(folder)
    log, after = _notes(ground, "again-events"), _notes(ground, "again-begun")
    done = ground.forks.run(folder, *place.words, events=log, environment={NAME: str(after)})
    if done.code == 0 and place.further:
        done = ground.forks.run(folder, *place.further)
    if done.code != 0:
        return Outcome("refused", f"the next run ended with {done.code}: {done.err.strip()}", moment)
    whole, begun = undisturbed(place, ground), read_begun(after)
    missing = set() if ended else whole.saved - finished
    twice = made_twice(read_begun(before), begun)
    problems = (
        difference(folder, place.expected, place.shards),
        _told("left behind beside its folders", _beside(folder, place)),
        _told("processes left behind", (*left, *done.left)),
        _told("made again though finished", saved_steps(log) & finished),
        _told("not made though missing, or made for nothing", saved_steps(log) ^ missing),
        _wrong_rows(whole.begun, rows, begun, ended) if place.stage == "download" else "",
        _told("made twice, though not in hand", twice if len(twice) > IN_HAND.get(place.stage, 1) else ()),
    )
    work = Work(len(whole.begun), len(begun), len(twice))
    return Outcome("went on", "; ".join(filter(None, problems)), moment, work)


def _told(problem, names):
    return f"{problem} ({len(names):,}): {', '.join(sorted(names)[:3])}" if names else ""


def _beside(folder, place):
    """What no undisturbed run leaves in the folder where a user works."""
    return {path.name for path in folder.iterdir()} - {path.name for path in place.scene.folder.iterdir()}


def _wrong_rows(whole, noted, begun, ended):
    """Rows that were not noted are fetched, and no others."""
    missing = 0 if ended else n_rows(whole) - sum(stop - first for _, first, stop in noted)
    return "" if n_rows(begun) == missing else f"{n_rows(begun):,} rows were fetched where {missing:,} were missing"
