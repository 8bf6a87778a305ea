"""Many commands at once: eight runs on one store whose holders are killed; two stores that publish to one folder."""

import random
import time

from scenes import EMBEDDED, OTHER, set_words
from settled import difference
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
        where = f"{RUNS} runs on one store, holders killed" if one else "two stores, one report folder"
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
        return Outcome(f"{len(killed)} killed", difference(folder, scene.expected))

    return make


def _holder(folder):
    try:
        return int((folder / "data" / ".lock-holder").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _one_report(draw, ground):
    """Two stores that are finished; one publisher in a round is killed on its way."""

    def make(folder):
        rng = random.Random(draw)
        folder.mkdir()
        scenes = (ground.embedded, ground.embedded_other)
        for name, scene in zip("ab", scenes, strict=True):
            (folder / name).symlink_to(scene.folder / "data")  # Nothing in a finished store is changed by a run.
        words = {name: ("run", "--config", "digits", *set_words(_settings(name)), "--threads", 1, "--store", name,
                        "--reports", "reports") for name in "ab"}  # fmt: skip
        victim = rng.randrange(PUBLISHERS)
        runs = [
            ground.forks.begin(folder, *words["ab"[k % 2]], kill_at=rng.randrange(4, 20) if k == victim else None)
            for k in range(PUBLISHERS)
        ]
        done = [one.wait() for one in runs]
        bad = [end for k, end in enumerate(done) if end.code != 0 and not end.sentence and k != victim]
        if bad:
            return Outcome("failed", f"exit code {bad[0].code}: {bad[0].err.strip()}")
        if done[victim].code:  # What it left half-way, the next one makes whole.
            ground.forks.ok(folder, *words[rng.choice("ab")])
        return Outcome("published", _published(folder / "reports" / "digits", scenes))

    return make


def _settings(name):
    return EMBEDDED if name == "a" else (*EMBEDDED, OTHER["embedded"])


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
