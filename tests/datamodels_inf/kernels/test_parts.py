"""What a kernel calls is compiled as a part of it, and not once more as if Python called it."""

import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache

from datamodels_inf.kernels import contrast_ranks
from datamodels_inf.kernels.compiled import kernel
from datamodels_inf.kernels.contrast_ranks import contrast, contrast_pairs


@kernel()
def _half(x):
    return x // 2


@kernel(by_itself=True)
def _third(x):
    return x // 3


@kernel()
def _sixth(x):
    return _third(_half(x))


@kernel()
def _steps(x):
    steps = 0
    while x > 1:
        x, steps = _half(x), steps + 1
    return steps


@kernel()
def _refused(x):
    if x < 0:
        raise ValueError("below 0")
    return _steps(x)


@pytest.fixture(autouse=True)
def _nothing_on_disk(monkeypatch):
    """What is loaded from there has its parts in it."""
    for outer in (_refused, _sixth, contrast):
        monkeypatch.setattr(outer, "_cache", NullCache())


def test_a_part_has_no_machine_code_of_its_own_until_python_calls_it():
    assert _refused(1000) == 9
    assert len(_refused.overloads) == 1
    assert not _steps.overloads
    assert not _half.overloads
    part = _refused.get_call_template.args[0]
    assert part.stats.cache_path is None
    assert not part.overloads  # Nobody calls that one but Python.
    (called,) = _half.get_call_template.args[0].overloads.values()
    assert not called.library.get_pointer_to_function(called.fndesc.llvm_func_name)
    assert _half(9) == 4
    assert len(_half.overloads) == 1


def test_a_part_is_compiled_by_itself_where_that_is_asked_for():
    """But for the wrapper, which nobody calls."""
    assert _sixth(40) == 6
    (called,) = _third.get_call_template.args[0].overloads.values()
    assert called.library.get_pointer_to_function(called.fndesc.llvm_func_name)
    assert not called.library.get_pointer_to_function(called.fndesc.llvm_cpython_wrapper_name)


def by_numba(module):
    """The names of a module, with each kernel compiled by Numba itself, and what it calls too."""
    names = dict(vars(module))
    for name, value in vars(module).items():
        if hasattr(value, "door") and value.__module__ == module.__name__:
            options = {key: value.targetoptions[key] for key in ("fastmath", "nogil") if key in value.targetoptions}
            names[name] = njit(**options)(FunctionType(value.py_func.__code__, names))
    return names


def test_sums_that_may_be_reordered_are_in_the_order_that_numba_gives_them():
    """To the last bit: other bits would be other results for users."""
    rng = np.random.default_rng(1)
    words, f = rng.integers(0, 2**64, (60, 40), dtype=np.uint64), rng.standard_normal(64 * 40)
    offset, own = f + np.sort(rng.standard_normal(f.size)), rng.standard_normal((30, 2))
    words[:10] &= rng.integers(0, 2**64, (10, 40), dtype=np.uint64)  # Other numbers of rows.
    left, right = np.arange(30)[:, None].copy(), np.arange(30, 60)[:, None].copy()
    numbas = FunctionType(contrast_pairs.__code__, by_numba(contrast_ranks))
    found = [pairs(words, offset, f, left, right, own) for pairs in (contrast_pairs, numbas)]
    for ours, numba in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, numba)


def test_in_a_numba_that_nobody_has_tried_kernels_are_compiled_as_numba_does_it():
    code = """
import sys, numba
numba.version_info = numba.version_info._replace(short=(9, 0))
from datamodels_inf.kernels.compiled import kernel
half = kernel()(lambda x: x // 2)
quarter = kernel()(lambda x: half(half(x)))
print(quarter(9), len(half.overloads), "datamodels_inf.kernels.parts" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "1", "False"]
