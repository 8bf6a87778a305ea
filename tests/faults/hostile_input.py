"""Hostile input before every reader (`tests/helpers/hostile.py`), as a row of the same table."""

import hostile
from hostile_readers import READERS
from tries import Row


def run(count, seed, ground, watcher=lambda fault, tries: tries, only=""):
    """How many inputs were refused in a sentence or read, and how many did anything else."""
    found = hostile.run(count, seed, only, part=ground.part, parts=ground.parts)
    row = Row("hostile input", f"{len(READERS)} readers of files and answers")
    for counts in found.values():
        row.tries += counts.tries
        row.survived += counts.refused + counts.read
        row.lost += counts.failed
        row.how["refused in a sentence"] += counts.refused
        row.how["read as what they are"] += counts.read
        row.failures += [tuple(failure) for failure in counts.failures]
    return [row]
