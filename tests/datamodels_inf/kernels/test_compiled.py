"""Compiled loops are kept for the next process, and made again when any of our sources has changed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from naive_lasso import random_words
from numba.core.errors import TypingError

import datamodels_inf
from datamodels_inf.kernels.compiled import kernel
from datamodels_inf.kernels.coordinate_descent import count_ones
from datamodels_inf.kernels.margin_sums import TARGETS, add_steps

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


def test_other_types_and_strides_are_refused():
    """The look-up reads memory as it lies; it must not be compiled for arrays that lie otherwise."""
    words, totals = random_words((3, 8)), np.zeros((3, TARGETS), np.int64)
    for steps in (np.zeros((512, TARGETS), np.int32), np.zeros((512, TARGETS), np.int64, order="F")):
        with pytest.raises(TypingError, match=r"a contiguous array of .* is wanted"):
            add_steps(words, 0, steps, totals)
    with pytest.raises(TypingError, match=r"a contiguous array of .* is wanted"):
        add_steps(words, 0, np.zeros((512, TARGETS), np.int64), totals.astype(np.float64))
    for other in (words.view(np.int64), np.asfortranarray(words)):
        with pytest.raises(TypingError, match="a contiguous array of uint64 is wanted"):
            count_ones(other, 0, 8, np.zeros(3, np.int64))
