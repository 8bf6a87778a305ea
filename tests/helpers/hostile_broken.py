"""Readers that do what none may, on anything but their seed: the harness must see each."""

import os
import time

import numpy as np
from hostile_readers import MARKER, Reader, make_names

SOUND = b'{"train": ["a", "b"], "targets": ["c"]}'


def fail(folder):
    return {}[folder]


def hang(folder):
    time.sleep(60)


def fill(folder):
    return np.ones(2**31)


def write(folder):
    (folder.parent / MARKER).write_bytes(b"")


def die(folder):
    os.kill(os.getpid(), 9)


BROKEN = {
    f"broken on purpose: {read.__name__}": Reader(
        make_names, lambda folder, read=read: read(folder) if (folder / "names.json").read_bytes() != SOUND else None
    )
    for read in (fail, hang, fill, write, die)
}
