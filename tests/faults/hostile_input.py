"""Hostile input before every reader (`tests/helpers/hostile.py`), as rows of the same table."""

import hostile
from tries import Row


def run(count, seed, ground, watcher=lambda fault, tries: tries, only=""):
    """One row: how many inputs were refused in a sentence or read, and how many did anything else."""
    found = hostile.run(count, seed, only)
    row = Row("hostile input", f"{len(found)} readers of files and answers")
    for name, counts in sorted(found.items()):
        row.tries += counts.tries
        row.survived += counts.refused + counts.read
        row.lost += counts.failed
        row.how["refused in a sentence"] += counts.refused
        row.how["read as what they are"] += counts.read
        row.failures += [(name, failure) for failure in counts.failures]
    return [row]
