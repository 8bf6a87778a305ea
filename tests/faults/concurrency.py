"""Many commands at once: eight runs on one store whose holders are killed; stores that publish to one folder."""

import random
import shutil
import time

from file_events import read_events
from scenes import EMBEDDED, OTHER, set_words
from settled import copied, difference
from tries import Outcome, Try, survey

RUNS = 8
KILLS = 3
PUBLISHERS = 4


def run(count, seed, ground, watcher=lambda fault, tries: tries, only=""):
    """The rows of so many rounds of each kind; there are five of the shorter kind for one of the longer."""
    rng, tries = random.Random(seed), []
    for k in range(count):
        draw = rng.getrandbits(32)
        one = k % 6 == 0
        where = f"{RUNS} runs on one store, holders killed" if one else f"{PUBLISHERS} stores, one report folder"
        make = (_one_store if one else _one_report)(draw, ground)
        tries.append(Try(where, f"{where}, round {k}, draw {draw}", make))
    return survey("concurrency", [one for one in tries if only in one.label], ground, watcher)


def _one_store(draw, ground):
    def make(folder):
        rng, scene = random.Random(draw), ground.embedded
        folder.mkdir()
        runs = [ground.forks.begin(folder, *scene.words) for _ in range(RUNS)]
        killed = set()
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.05, 0.8))
            holder = _holder(folder)
            for one in runs:
                if one.pid == holder:
                    one.kill()
                    killed.add(one.pid)
        done = {one.pid: one.wait() for one in runs}
        bad = [end for pid, end in done.items() if pid not in killed and end.code != 0]
        if bad:
            return Outcome("failed", f"exit code {bad[0].code}: {bad[0].err.strip()}")
        if len(killed) == RUNS:
            ground.forks.ok(folder, *scene.words)
        return Outcome(f"with {len(killed)} killed", difference(folder, scene.expected))

    return make


def _holder(folder):
    try:
        return int((folder / "data" / ".lock-holder").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _one_report(draw, ground):
    """Finished stores, two of each of two seeds; all stop before they touch the reports, then go on together. One is
    killed on its way."""

    def make(folder):
        rng = random.Random(draw)
        folder.mkdir()
        scenes = (ground.embedded, ground.embedded_other)
        for k in range(PUBLISHERS):
            copied(scenes[k % 2].folder / "data", folder / f"store{k}")
        stop, victim = _first_of_the_reports(ground), rng.randrange(PUBLISHERS)
        runs = [
            ground.forks.begin(
                folder, *_publishing(k), stop_at=stop, kill_at=stop + rng.randrange(1, 25) if k == victim else None
            )
            for k in range(PUBLISHERS)
        ]
        deadline = time.monotonic() + 60
        while not all(one.is_stopped() for one in runs) and time.monotonic() < deadline:
            time.sleep(0.002)
        for one in runs:
            one.go_on()
        done = [one.wait() for one in runs]
        bad = [end for k, end in enumerate(done) if end.code != 0 and not end.sentence and k != victim]
        if bad:
            return Outcome("failed", f"exit code {bad[0].code}: {bad[0].err.strip()}")
        if done[victim].code:  # What it left half-way, the next one makes whole.
            ground.forks.ok(folder, *_publishing(rng.randrange(PUBLISHERS)))
        return Outcome("published", _published(folder / "reports" / "digits", scenes))

    return make


def _publishing(k):
    """The words of a run on store number k."""
    return ("run", "--config", "digits", *set_words(_settings(k)), "--threads", 1, "--store", f"store{k}")


def _first_of_the_reports(ground):
    """The number of the first event that touches the folder of reports: the same in all runs on finished stores."""
    if not hasattr(ground, "first_of_the_reports"):
        folder, log = ground.folder / "publishing", ground.folder / "publishing-events"
        copied(ground.embedded.folder / "data", folder / "store0")
        ground.forks.ok(folder, *_publishing(0), events=log)
        events = read_events(log)
        ground.first_of_the_reports = next(n for n, e in enumerate(events, 1) if e[-1].startswith("reports/"))
        shutil.rmtree(folder)
    return ground.first_of_the_reports


def _settings(k):
    return (*EMBEDDED, OTHER["embedded"]) if k % 2 else EMBEDDED


def _published(home, scenes):
    """In what the folder is not the report of one of the two; nothing if it is."""
    found, wanted = _contents(home), [_contents(scene.folder / "reports" / "digits") for scene in scenes]
    if found in wanted:
        return ""
    differing = [sorted(_differing(found, other))[:4] for other in wanted]
    return f"the files at the end are those of neither run: {differing}"


def _contents(home):
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def _differing(one, other):
    return [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
