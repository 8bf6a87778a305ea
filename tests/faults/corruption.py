"""Damage to every file of a store: the next run must notice it, name the file and make it again, or refuse in one
sentence and work once its advice is followed; or nobody uses what was damaged. Never a wrong number.
"""

import os
import random
import re
import shutil
import time
from pathlib import Path

from damaged_states import states
from scenes import TRAIN
from settled import copied, difference
from small_steps import SETTLED_NS
from tries import Outcome, Try, spread, survey

KEPT, SEEN, NEW = "kept", "kept, after a run that saw the file whole", "new"
STAMPS = (KEPT, SEEN, NEW)
"""Of the time stamp: what an unlucky bit, a bad cable or a hidden write leaves, and what an edit leaves."""
REBUILT, SILENT = "noticed, named and made again", "made again"
REFUSED, HARMLESS = "refused by name", "harmless: nobody uses it"


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", names=None):
    """The rows of so many damages, by what was damaged."""
    rng, groups = random.Random(seed), {}
    for state in states(ground, names):
        for file in state.files:
            for word, content in state.damages(file).items():
                for stamp in STAMPS[: 1 if content is None else 3]:
                    label = f"{state.name}: {file}, {word}, time stamp {stamp}"
                    one = Try(_where(state, file), label, _Damage(state, file, content, stamp, ground))
                    groups.setdefault((state.name, file), []).append(one)
    chosen = spread(groups, sum(map(len, groups.values())) if only else count, rng)
    return survey("corruption", [one for one in chosen if only in one.label], ground, watcher)


def _where(state, file):
    if state.name.startswith("unfinished"):
        return state.name
    parts = file.split("/")
    kind = {"set": "the set", "reports": "the published report"}.get(parts[0], "")
    return f"{state.name}: {kind or ('mirrors' if parts[1] == 'objects' else 'results')}"


class _Damage:
    def __init__(self, state, file, content, stamp, ground):
        self.state, self.file, self.content, self.stamp, self.ground = state, file, content, stamp, ground

    def __call__(self, folder):
        state, ground = self.state, self.ground
        copied(state.folder, folder)
        if self.stamp == SEEN and not state.name.startswith("unfinished"):
            time.sleep(2 * SETTLED_NS / 1e9)  # So that it is noted which files were hashed.
            ground.forks.ok(folder, *state.words)
        damage(folder / self.file, self.content, keep=self.stamp != NEW)
        done = ground.forks.run(folder, *state.words)
        if done.code == 0:
            return self._finished(folder, done)
        if not done.sentence:
            return Outcome("failed", f"exit code {done.code}: {done.err.strip()}")
        if not self._named(done.said):
            return Outcome("refused", f"refused without the file's name: {done.err.strip()}")
        follow(done.err, folder, state, ground)
        again = ground.forks.run(folder, *state.words)
        why = f"exit code {again.code}: {again.err.strip()}" if again.code else difference(folder, state.expected)
        return Outcome(REFUSED, why and f"{done.err.strip()} With that done: {why}")

    def _finished(self, folder, done):
        why = difference(folder, self.state.expected)
        if why:
            return Outcome("wrong", f"exit code 0, but {why}")
        if self._named(done.said):
            return Outcome(REBUILT)
        path = folder / self.file
        return Outcome(HARMLESS if path.is_file() and path.read_bytes() == self.content else SILENT)

    def _named(self, said):
        """The file, or the folder of the result, mirror or work that it is of."""
        home = str(Path(self.file).parent)
        return self.file in said or (self.file.startswith(("data/", "set/.parts/")) and home in said)


def damage(path, content, *, keep):
    """In place, so that only the content changes; keep: the time stamp is put back."""
    if content is None:
        path.unlink()
        return
    stat = path.stat()
    with path.open("r+b") as file:
        file.truncate()
        file.write(content)
    if keep:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def follow(sentence, folder, state, ground):
    """Do what a refusal advises: delete what it names, make or get the set again; else just run again."""
    named = re.search(r"delete (\S+?)[;,.]?(?: |\n|$)", sentence)
    if named is not None:
        place = (folder / named[1]).resolve()
        assert place.is_relative_to(folder.resolve()), sentence
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    if "give --out another folder" in sentence and state.words == TRAIN:
        ground.forks.ok(folder, *("other" if word == "set" else word for word in TRAIN))
        shutil.rmtree(folder / "set")
        (folder / "other").rename(folder / "set")
    for name in re.findall(r"(\S+) does not exist", sentence):
        shutil.copyfile(state.folder / name, folder / name)
    if re.search(r"(make|get) (the set|it) again", sentence) and state.words != TRAIN:
        shutil.rmtree(folder / "set", ignore_errors=True)
        if "make the set again" in sentence:
            ground.forks.ok(folder, *TRAIN)
        else:
            shutil.copytree(state.folder / "set", folder / "set")
