"""Kernels are compiled ahead, by other processes, for the types that they are called with."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

from datamodels_inf import kernels
from datamodels_inf.kernels import ahead

SMALL = ("gram_rows.mirror_rows", "coordinate_descent.count_ones", "gram_rows.set_rows", "gram_rows.add_to_rows",
         "coordinate_descent.steep_columns", "closed_sets.largest_allowed")  # fmt: skip
COMPILE = f"""
import json, sys
from datamodels_inf.kernels.ahead import Ahead, dispatcher_of, is_kept, load
doors = {SMALL}
if sys.argv[1] == "broken":
    sys.executable += "-that-is-not-there"
before = [is_kept(door) for door in doors]
ahead = Ahead(doors, int(sys.argv[2]))
tried = ahead.wait(doors)
kept = [is_kept(door) for door in doors]
ahead.close()
load(doors[:2])
loaded = [[sum(getattr(dispatcher_of(door).stats, name).values()) for door in doors[:2]]
          for name in ("cache_hits", "cache_misses")]
print(json.dumps([before, tried, kept, *loaded]))
"""

CLOSE = f"""
import json
from datamodels_inf.kernels.ahead import EVERYTHING, Ahead, is_kept
doors = ({SMALL[0]!r}, *EVERYTHING)
ahead = Ahead(doors, 2)
ahead.wait(doors[:1])
ahead.close()
print(json.dumps([ahead.wait(doors), is_kept(doors[0]), all(map(is_kept, doors))]))
"""


def compile_in(folder, how, processes):
    return python(folder, COMPILE, how, str(processes))


def python(folder, *code):
    command = [sys.executable, "-c", *code]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    )
    return json.loads(done.stdout)


def test_other_processes_compile_and_this_one_finds_it_on_disk(tmp_path):
    none, everything = [False] * len(SMALL), [True] * len(SMALL)
    assert compile_in(tmp_path, "well", 2) == [none, True, everything, [1, 1], [0, 0]]
    assert compile_in(tmp_path, "broken", 2) == [everything, True, everything, [1, 1], [0, 0]]


def test_what_no_other_process_compiles_is_compiled_here(tmp_path):
    """None is allowed, or none can be started: nobody waits for it."""
    none = [False] * len(SMALL)
    assert compile_in(tmp_path, "well", 1) == [none, True, none, [0, 0], [1, 1]]
    first_two = [True, True, *none[2:]]
    assert compile_in(tmp_path, "broken", 2) == [first_two, True, first_two, [1, 1], [0, 0]]


def test_who_closes_waits_for_nobody(tmp_path):
    """The processes are at work by then; `close` returns when all of them have ended."""
    assert python(tmp_path, CLOSE) == [True, True, False]


def doors():
    modules = [import_module(f"datamodels_inf.kernels.{module.name}") for module in iter_modules(kernels.__path__)]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in modules
        for name, value in vars(module).items()
        if getattr(value, "door", ()) and value.__module__ == module.__name__
    }


def test_every_door_is_in_a_list():
    assert sorted(ahead.EVERYTHING) == sorted(doors())
