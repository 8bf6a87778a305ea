"""Compiled loops are kept for the next process, and made again when any of our sources has changed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import datamodels_inf
from datamodels_inf.kernels.compiled import kernel

COINS = """
import json
import numpy as np
from datamodels_inf.kernels.dense_swap import coin
coins = [coin(np.uint64(5), m) for m in range(64)]
print(json.dumps([coins, sum(coin.stats.cache_hits.values())]))
"""


def test_a_change_in_another_file_is_noticed(tmp_path):
    """`coin` stands in kernels/dense_swap.py; a constant of it in another room, internal/coins.py."""
    package = tmp_path / "datamodels_inf"
    shutil.copytree(Path(datamodels_inf.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))

    def run():
        command = [sys.executable, "-c", COINS]
        return json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)

    first, hits = run()
    assert 16 < sum(first) < 48
    assert hits == 0
    assert run() == [first, 1]
    coins = package / "internal" / "coins.py"
    coins.write_text(coins.read_text().replace("0xBF58476D1CE4E5B9", "0xBF58476D1CE4E5BB"))
    second, hits = run()
    assert hits == 0
    assert second != first
    assert run() == [second, 1]


def test_a_function_that_cannot_be_kept_is_compiled_all_the_same():
    """As where no folder can be written to: numba finds no place for what has no file."""
    names = {}
    exec("def twice(x): return x + x", names)
    function = kernel()(names["twice"])
    assert function(3) == 6
    assert function.stats.cache_path is None
