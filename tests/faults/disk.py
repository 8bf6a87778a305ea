"""Disks that are full, limited, read-only or gone: one sentence that names the place, and afterwards nothing is lost.

Mounts need root; without, only the limit of a file's size is tried, and the table says so.
"""

import contextlib
import os
import random
import re
import shutil
import subprocess
import time

from kill_places import STAGES, place_of, undisturbed
from settled import difference
from tries import Outcome, Row, Try, survey

FULL = re.compile(r"full|space|too large|room|disk|quota", re.IGNORECASE)
SHARES = (0.0, 0.15, 0.4, 0.7, 0.95)
BLOCK = 4096


def run(count, seed, ground, watcher=lambda fault, tries: tries, only="", stages=STAGES):
    """The rows of so many faults, of all kinds by turns."""
    rng = random.Random(seed)
    kinds = (_full, _limited, _read_only, _vanished) if can_mount(ground) else (_limited,)
    places = {}
    tries = []
    for k in range(count):
        stage = stages[k // len(kinds) % len(stages)]
        place = places[stage] = places.get(stage) or place_of(ground, stage)
        tries.append(kinds[k % len(kinds)](place, rng.choice(SHARES), ground))
    rows = survey("disk", [one for one in tries if only in one.label], ground, watcher)
    return rows if len(kinds) > 1 else [*rows, Row("disk", "full, read-only, vanishing: not tried without mounts")]


def can_mount(ground):
    """Whether this process may mount a tmpfs."""
    place = ground.folder / "mount"
    place.mkdir(exist_ok=True)
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "x", place], capture_output=True).returncode:
        return False
    subprocess.run(["umount", place], check=True)
    return True


@contextlib.contextmanager
def mounted(folder, *options):
    """Something mounted at `folder`; whatever is there at the end goes."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *map(str, options), folder], check=True)
    try:
        yield folder
    finally:
        while subprocess.run(["umount", "-l", folder], capture_output=True).returncode == 0:
            pass


def remount(folder, options):
    """With other options."""
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def size_on_disk(folder):
    """Bytes that the files in `folder` take, in whole blocks."""
    return sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in folder.rglob("*") if path.is_file())


def judged(place, folder, ground, done, words, *, gone=False):
    """Of a run on a bad disk, and of the next on a good one. gone: what it wrote last went with its disk."""
    if done.code and not done.sentence:
        return Outcome("failed", f"exit code {done.code}: {done.err.strip()[:600]}")
    if done.code and not (words.search(done.err) and _names_a_place(done.err)):
        return Outcome("refused", f"the sentence names no folder or no reason: {done.err.strip()}")
    if not done.code and not gone and not place.further and (why := _difference(place, folder)):
        return Outcome("wrong", f"exit code 0 on a bad disk, but {why}")
    again = ground.forks.run(folder, *place.words)
    if not again.code and place.further:
        again = ground.forks.run(folder, *place.further)
    why = f"exit code {again.code}: {again.err.strip()}" if again.code else _difference(place, folder)
    return Outcome("had room" if done.code == 0 else "told, then went on", why and f"on a good disk: {why}")


def _difference(place, folder):
    return difference(folder, place.expected, place.shards)


def _names_a_place(sentence):
    return any(home in sentence for home in ("data", "reports", "set", "two", "/"))


def _full(place, share, ground):
    def make(folder):
        staged = place.prepare(ground.folder / "staged")
        needed = max(BLOCK, size_on_disk(place.scene.folder) - size_on_disk(staged))
        with mounted(folder, "-t", "tmpfs", "-o", "size=1g", "faults"):
            shutil.copytree(staged, folder, dirs_exist_ok=True)
            disk = os.statvfs(folder)
            room = (disk.f_blocks - disk.f_bfree) * disk.f_frsize + int(share * needed)
            remount(folder, f"size={room}")
            done = ground.forks.run(folder, *place.words)
            remount(folder, "size=1g")
            return judged(place, folder, ground, done, FULL)

    return Try("full", f"full: {place.stage} with {share:.0%} of the room", make)


def _limited(place, share, ground):
    def make(folder):
        place.prepare(folder)
        own = [path for path in (place.scene.folder / place.home).rglob("*") if path.is_file()]
        largest = max(path.stat().st_size for path in own)
        done = ground.forks.run(folder, *place.words, file_bytes=max(BLOCK, int(share * largest)))
        return judged(place, folder, ground, done, FULL)

    return Try("RLIMIT_FSIZE", f"limit: {place.stage} with files of {share:.0%}", make)


def _read_only(place, share, ground):
    def make(folder):
        staged = place.prepare(ground.folder / "staged")
        with mounted(folder, "-t", "tmpfs", "-o", "size=1g", "faults"):
            shutil.copytree(staged, folder, dirs_exist_ok=True)
            remount(folder, "ro")
            done = ground.forks.run(folder, *place.words)
            remount(folder, "rw")
            return judged(place, folder, ground, done, re.compile("read-only|not writable|writ", re.IGNORECASE))

    return Try("read-only", f"read-only: {place.stage}", make)


def _vanished(place, share, ground):
    """The store's disk goes in the middle: the same folder is mounted at its place, taken away, and given back."""

    def make(folder):
        numbers = sorted(n for some in undisturbed(place, ground).moments.values() for n in some)
        place.prepare(folder)
        home = folder / place.home.partition("/")[0]
        kept = folder.with_name("kept")
        shutil.rmtree(kept, ignore_errors=True)
        home.mkdir(exist_ok=True)
        shutil.move(home, kept)
        with mounted(home, "--bind", kept):
            running = ground.forks.begin(folder, *place.words, stop_at=numbers[int(share * (len(numbers) - 1))])
            deadline = time.monotonic() + 60
            while not running.is_stopped() and time.monotonic() < deadline:
                time.sleep(0.002)
            subprocess.run(["umount", "-l", home], check=True)
            running.go_on()
            done = running.wait()
        shutil.rmtree(home)  # What was written under the mount, while it was away.
        shutil.move(kept, home)
        return judged(place, folder, ground, done, re.compile("."), gone=True)

    return Try("vanishing mount", f"vanishing: {place.stage} at {share:.0%}", make)
