"""A store that several commands read."""

import pytest
from command_here import ok
from pyarrow import parquet
from small_atlas import ALL, words, write_source
from three_methods import HARMONIC, METHODS, SETTINGS


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A store with 500 pairs tested by three methods."""
    folder = tmp_path_factory.mktemp("findings")
    ok(folder, "test", *SETTINGS)
    return folder


@pytest.fixture(scope="session")
def rows(folder):
    """The test stage's table with Benjamini–Yekutieli's adjusted p-values, written out."""
    (path,) = folder.glob("data/test/*/tests.parquet")
    table = parquet.read_table(path).to_pylist()
    for method in METHODS:
        family = sorted((r for r in table if r["method"] == method), key=lambda r: r["pvalue"])
        smallest = 1.0
        for rank in range(500, 0, -1):
            smallest = min(smallest, family[rank - 1]["pvalue"] * 500 * HARMONIC / rank)
            family[rank - 1]["adjusted"] = smallest
    return table


@pytest.fixture(scope="session")
def estimated_source(tmp_path_factory):
    return write_source(tmp_path_factory.mktemp("estimated"))


@pytest.fixture(scope="session")
def estimated_run(estimated_source, tmp_path_factory):
    """A folder whose store has the atlas of all targets, with findings over each target and over all."""
    folder = tmp_path_factory.mktemp("atlas")
    for family in ("target", "all"):
        ok(folder, "run", *words(estimated_source, ALL, f"atlas.family={family}", "report.max_panels=0"))
    return folder
