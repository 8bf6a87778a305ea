"""Power lost at any point of a run: all its writes are recorded once, and played again up to that point.

What a disk may hold then (`crashed_disk`) is where the next run begins: it must end with the bytes of an undisturbed
one, or name what is damaged and work once its advice is followed.
"""

import os
import random
import re

from commands import ONE_THREAD, REAL
from corruption import follow
from crashed_disk import MODES, Disk, put
from damaged_states import State
from recorded_writes import can_record, record
from scenes import TRAIN
from servers import ENVIRONMENT
from settled import difference
from tries import Outcome, Row, Try, survey

RUNS = ("embedded", "train", "s3")


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", runs=RUNS):
    """The rows of so many power losses, by what was running."""
    if not can_record():
        return [Row("power loss", "not tried: it needs strace")]
    rng, tries = random.Random(seed), []
    recorded = {name: Recorded(name, ground) for name in runs}
    for k in range(count):
        made = recorded[runs[k % len(runs)]]
        number, mode = made.number(rng.random(), k % 2 == 0), MODES[k // len(runs) % len(MODES)]
        label = f"{made.name} after {number} operations, {mode}, draw {rng.getrandbits(32)}"
        tries.append(Try(made.name, label, _PowerLoss(made, number, mode, label, ground)))
    return survey("power loss", [one for one in tries if only in one.label], ground, watcher)


class Recorded:
    """The operations of a run from an empty folder to its end."""

    def __init__(self, name, ground):
        scene = ground.trained if name == "train" else getattr(ground, name)
        self.name, self.scene = name, scene
        self.words = TRAIN if name == "train" else scene.words
        part = "set/" if name == "train" else ""
        self.expected = {file: content for file, content in scene.expected.items() if file.startswith(part)}
        folder = ground.folder / f"recorded-{name}"
        folder.mkdir()
        environment = {**os.environ, **ONE_THREAD, **ENVIRONMENT}
        words = [*REAL, *map(str, self.words)]
        self.operations = record(words, folder, ground.folder / "strace", environment)
        self.home = str(folder)
        self._check(folder)

    def _check(self, folder):
        """That nothing was missed: played to the end, the operations give what lies there."""
        disk = self.disk(len(self.operations))
        found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        played = disk.now()
        wrong = [name for name in found.keys() | played.keys() if found.get(name) != played.get(name)]
        assert not wrong, f"the recording is not whole: {sorted(wrong)[:5]}"

    def disk(self, number):
        """After so many operations."""
        disk = Disk(self.home)
        for operation in self.operations[:number]:
            disk.do(operation)
        return disk

    def number(self, share, of_names):
        """How many operations: anywhere, or just after one that changes names or syncs."""
        places = range(len(self.operations) + 1)
        if of_names:
            kinds = ("move", "link", "remove", "sync")
            places = [n + 1 for n, operation in enumerate(self.operations) if operation.what in kinds]
        return places[int(share * len(places))]


class _PowerLoss:
    def __init__(self, made, number, mode, label, ground):
        self.made, self.number, self.mode, self.label, self.ground = made, number, mode, label, ground

    def __call__(self, folder):
        made, ground = self.made, self.ground
        rng = random.Random(self.label)
        folder.mkdir()
        put(made.disk(self.number).after_power_loss(self.mode, rng), folder)
        done = ground.forks.run(folder, *made.words)
        if done.code == 0:
            why = difference(folder, made.expected)
            return Outcome("went on", why and f"exit code 0, but {why}")
        if not done.sentence or not re.search(r"(data|set|reports)/\S", done.err):
            return Outcome("failed", f"exit code {done.code}: {done.err.strip()}")
        state = State(made.name, made.scene.folder, made.words, made.expected, (), None)
        follow(done.err, folder, state, ground)
        again = ground.forks.run(folder, *made.words)
        why = f"exit code {again.code}: {again.err.strip()}" if again.code else difference(folder, made.expected)
        return Outcome("named the damage", why and f"{done.err.strip()} With that done: {why}")
