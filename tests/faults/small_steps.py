"""The command in steps so small that a scenario of seconds has many of each stage's; no result depends on their size.

    python tests/faults/small_steps.py run --config digits …

is `datamodels-inf run --config digits …` with them. Processes that it spawns, and workers of its cluster, import this
file first, and have them too.
"""

import sys

SETTLED_NS = 20_000_000
"""Ticks of time stamps here are of 4 ms."""


def make_small():
    from begun_steps import note_begun

    import pipeline.remote.fetch as fetch
    import pipeline.stages.atlas.tile_files as tile_files
    import pipeline.stages.fit.lasso_batches as lasso_batches
    import pipeline.stages.fit.lasso_work as lasso_work
    import pipeline.stages.fresh.stage as fresh
    import pipeline.stages.referee.target_parts as target_parts
    import pipeline.stages.verify.couples as couples
    import pipeline.training.parts as parts

    fetch.RUN_BYTES = 4_000
    lasso_batches.BATCH = lasso_work.BATCH = 4
    tile_files.tile_size = lambda n_train: 4
    parts.CHUNK = 100
    fresh.BATCH = 16
    couples.CHUNK = 4
    target_parts.PART_BYTES = 100_000
    _note_all_files()
    note_begun()


def _note_all_files():
    """That a file was hashed is noted of large ones only, and only once they have not been changed for a while."""
    import pipeline.store.hash_notes as hash_notes
    import pipeline.store.hashing as hashing

    hashing.ALWAYS_HASHED_BYTES = 0
    hash_notes.SETTLED_NS = SETTLED_NS


def main():
    from pipeline.cli import main as command

    make_small()
    command()


if __name__ == "__main__":
    HERE = sys.path[0]
    sys.path[0] = HERE.removesuffix("/tests/faults")  # This tree's packages, wherever the command runs.
    sys.path.append(HERE)
    main()
elif __name__ == "__mp_main__":
    make_small()
