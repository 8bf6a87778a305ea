"""Kernels are compiled before the stage that calls them begins, and a user who waits is told for what."""

import json
import os
import subprocess
import sys

from datamodels_inf.kernels import ahead
from pipeline.compiling import IMPORTED_LATE

READY = """
import json
from datamodels_inf.kernels.ahead import dispatcher_of
from pipeline import compiling
compiling.PATIENCE = 0.0
doors, lines = ["gram_rows.mirror_rows", "gram_rows.set_rows"], []
with compiling.Compiling(doors, 1) as ready:
    for _ in range(2):
        ready.ready(doors[:1], lines.append)
    loaded = [len(dispatcher_of(door).signatures) for door in doors]
print(json.dumps([lines, loaded]))
"""

WAITING = """
import json, sys
from pipeline import compiling
doors = ["gram_rows.mirror_rows", "gram_rows.set_rows", "gram_rows.add_to_rows", "coordinate_descent.steep_columns"]
before = [module in sys.modules for module in compiling.IMPORTED_LATE]
with compiling.Compiling(doors, 2) as ready:
    ready.ready(doors, print, quiet=True)
print(json.dumps([before, [module in sys.modules for module in compiling.IMPORTED_LATE]]))
"""

WHOLE_RUN = """
import json, sys
from pipeline.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
kernels = {
    f"{module.rpartition('.')[2]}.{name}": [len(value.signatures), value.door in value.overloads]
    for module, names in list(sys.modules.items()) if module.startswith("datamodels_inf.kernels.")
    for name, value in vars(names).items()
    if getattr(value, "door", ()) and value.__module__ == module and value.signatures
}
print(json.dumps(kernels))
"""


def python(code, *arguments, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True,
        env={**os.environ, **variables},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_one_line_once_per_installation(tmp_path):
    """With a patience of no time; the second kernel was not asked for."""
    assert python(READY, NUMBA_CACHE_DIR=str(tmp_path)) == [["compiling, once per installation"], [1, 0]]
    assert python(READY, NUMBA_CACHE_DIR=str(tmp_path))[0] == []


def test_who_waits_imports_meanwhile_what_later_stages_need(tmp_path):
    none = [False] * len(IMPORTED_LATE)
    assert python(WAITING, NUMBA_CACHE_DIR=str(tmp_path)) == [none, [True] * len(IMPORTED_LATE)]
    assert python(WAITING, NUMBA_CACHE_DIR=str(tmp_path)) == [none, none]


def test_every_kernel_of_a_run_has_the_one_signature_of_its_door_and_is_known_ahead(tmp_path):
    """Another one, an array that is read-only or not contiguous, would be compiled while the user waits."""
    arguments = ["run", "--quiet", "--store", str(tmp_path / "store"), "--reports", str(tmp_path / "reports")]
    called = python(WHOLE_RUN, *arguments, "--set", "test.method=['swap', 'contrast']", "--set", "test.repeats=2")
    assert set(map(tuple, called.values())) == {(1, True)}
    known = {*ahead.LASSO, *ahead.SWAP, *ahead.CONTRAST, *ahead.SUMS, *ahead.CLOSED_SETS, *ahead.ONE_TARGET}
    assert set(called) <= known
    assert {*ahead.LASSO, *ahead.SWAP, *ahead.CONTRAST} <= set(called)
