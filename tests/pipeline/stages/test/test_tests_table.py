"""The table of all tests, written in little memory."""

import tracemalloc

import numpy as np
import pyarrow
from pyarrow import parquet
from tested_pairs import METHODS

from datamodels_inf.designs.pairs import Pairs
from pipeline.images.image_set import Labels
from pipeline.stages.test.pair_chunks import EFFECTS, NOTES
from pipeline.stages.test.tests_table import write_tests
from pipeline.store.unfinished_steps import save_step


def test_a_large_table_is_written_in_little_memory(tmp_path):
    """300,000 pairs by four methods from files of 20,000: a whole table would need 200 MB."""
    n, step = 300_000, 20_000
    rng = np.random.default_rng(0)
    triples = np.stack([rng.integers(0, 500, n), rng.integers(500, 1000, n), np.sort(rng.integers(0, 50, n))], axis=1)
    pairs = Pairs.of_triples(triples, "list")
    labels = Labels(np.arange(1000) % 2, np.arange(50) % 2, ("cat", "dog"))
    shared = ("theta_i", "theta_j", *EFFECTS)
    chunks = []
    for start in range(0, n, step):
        columns = {name: rng.random(step) for name in shared} | {"n_informative": np.full(step, start)}
        columns |= {f"{name} {m}": rng.random(step) for name in ("statistic", "pvalue") for m in METHODS}
        columns |= {f"note {m}": np.full(step, k % 2, np.int8) for k, m in enumerate(METHODS)}
        chunks.append(tmp_path / f"{start:06d}.npz")
        save_step(chunks[-1], columns)
    write_tests(tmp_path / "tests.parquet", pairs, chunks[:1], METHODS, labels)  # What it imports is not counted.
    pool = pyarrow.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    notes = write_tests(tmp_path / "tests.parquet", pairs, chunks, METHODS, labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25e6
    assert pool.bytes_allocated() - before < 1e6
    assert notes == {m: {NOTES[1]: n} if k % 2 else {} for k, m in enumerate(METHODS)}
    table = parquet.read_table(tmp_path / "tests.parquet")
    assert table.num_rows == 4 * n
    np.testing.assert_array_equal(table["i"].to_numpy()[2 * n : 3 * n], triples[:, 0])
    np.testing.assert_array_equal(table["n_informative"].to_numpy()[:n], np.arange(n) // step * step)
    with np.load(chunks[-1]) as last:
        np.testing.assert_array_equal(table["pvalue"].to_numpy()[-step:], last["pvalue contrast"])
