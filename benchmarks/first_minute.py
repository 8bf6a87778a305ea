"""The first run of a new installation, which compiles its kernels, against the next ones; and what --help costs.

    python benchmarks/first_minute.py [--repeats 3]

Each run is `datamodels-inf run --config digits` in a process of its own, with an empty store; a cold one also with an
empty folder for compiled code. Seconds on the clock, and of the processor with all child processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from pipeline.cli import main; main()"]
IMPORT = [sys.executable, "-c", "import datamodels_inf"]


def seconds(command: list[str], **variables: str) -> tuple[float, float]:
    """(on the clock, of the processor)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **variables})
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(folder: Path, compiled: Path) -> tuple[float, float]:
    """The embedded set, from an empty store to the report."""
    places = ["--store", str(folder / "store"), "--reports", str(folder / "reports")]
    return seconds([*COMMAND, "run", "--config", "digits", "--quiet", *places], NUMBA_CACHE_DIR=str(compiled))


def cold_and_warm() -> tuple[tuple[float, float], tuple[float, float]]:
    """The first run of an installation, and the second."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "compiled"
        return run(Path(folder) / "first", compiled), run(Path(folder) / "second", compiled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="the median is printed (default: %(default)s)")
    repeats = parser.parse_args().repeats
    seconds([*COMMAND, "--help"])  # Its bytecode is there from now on.
    cold, warm = zip(*(cold_and_warm() for _ in range(repeats)), strict=True)
    measured = {
        "run, cold": cold,
        "run, warm": warm,
        "--help": [seconds([*COMMAND, "--help"]) for _ in range(repeats)],
        "import datamodels_inf": [seconds(IMPORT) for _ in range(repeats)],
    }
    print(f"{'':<22} {'clock':>8} {'processor':>10}   s, median of {repeats}, {os.cpu_count()} cores")
    for name, pairs in measured.items():
        clock, processor = (statistics.median(values) for values in zip(*pairs, strict=True))
        print(f"{name:<22} {clock:>8.2f} {processor:>10.2f}")
    ratio = statistics.median(pair[0] for pair in cold) / statistics.median(pair[0] for pair in warm)
    print(f"cold / warm            {ratio:>8.2f}")


if __name__ == "__main__":
    main()
