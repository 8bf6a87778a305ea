"""A Dask cluster against one process on the same cores, the scheduler's own limit, and what more cores make of it.

    python benchmarks/cluster.py [--repeats 3]             all parts, some ten minutes on 2 cores
    python benchmarks/cluster.py --parts overhead
    python benchmarks/cluster.py --parts scheduler

overhead: the stages of one configuration and a training, each once in-process with all cores (`--threads`,
`--workers`) and once by as many workers of one thread each, started from the command line; seconds of the stage's own
work as its manifest holds them, medians of turns. The workers have imported our code and compiled its kernels before.
scheduler: units a second that do nothing. Then the hours of large jobs, from costs of a unit measured on these cores.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

COMMAND = [sys.executable, "-m", "pipeline.cli"]
N_IMAGES, TARGETS = 400, range(8)
"""Of the embedded digits; every pair is tested on each of these targets."""
MODELS = 24_000
GOAL = 1.15


@dataclass(frozen=True)
class Large:
    """A job of the size that this is for. seconds: of a core, a thing; fixed: of a core, in each worker, before that.

    The costs are those of benchmarks/RESULTS.md, of the cores that this runs on: train.py (growth), lasso.py (256
    targets: counting rows, and a further target), swap_test.py (contrast, two threads), atlas.py.
    """

    what: str
    things: int
    per_unit: int
    seconds: float
    fixed: float = 0.0
    threads: int = 1

    def hours(self, cores: int) -> float:
        """Workers of `threads` cores each share the units evenly."""
        workers = max(1, cores // self.threads)
        units = math.ceil(math.ceil(self.things / self.per_unit) / workers)
        return (self.fixed + units * self.per_unit * self.seconds) / min(cores, self.threads) / 3600

    def units_a_second(self, cores: int) -> float:
        """What the scheduler must keep up with."""
        return self.things / self.per_unit / (3600 * self.hours(cores))


LARGE = (
    Large("300,000 models of the study's network, 50,000 images", 300_000, 512, 1 / 1.48),
    Large("300,000 models of the study's network, 2,000 images", 300_000, 512, 1 / 36.44),
    Large("LASSO of 10,000 targets, 300,000 × 50,000", 10_000, 32, 0.71, fixed=480.0, threads=16),
    Large("contrasts of 100,000,000 pairs, test.chunk_pairs = 1000000", 100_000_000, 1_000_000, 1 / 19_750),
)
CORES = (1, 100, 1_000)


@contextmanager
def workers(count: int) -> Iterator[str]:
    """The address of a scheduler with `count` workers of one thread, all started as a user starts them."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "scheduler.json"
        dask = [sys.executable, "-m", "dask"]
        own = ["--port", "0", "--no-dashboard", "--scheduler-file", str(note)]
        started = [subprocess.Popen([*dask, "scheduler", *own], stderr=subprocess.DEVNULL)]
        try:
            while not note.is_file():
                time.sleep(0.1)
            address = str(json.loads(note.read_text())["address"])
            more = ["--nworkers", str(count), "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"]
            started.append(subprocess.Popen([*dask, "worker", address, *more], stderr=subprocess.DEVNULL))
            yield address
        finally:
            for process in started[::-1]:
                process.terminate()
                process.wait()


def stage_seconds(folder: Path, words: Sequence[str]) -> float:
    """Of the last stage of a command, with a store of its own that has all stages before."""
    stage = words[0]
    subprocess.run([*COMMAND, *words, "--store", str(folder), "--quiet", "--force", stage], check=True)
    manifests = [json.loads(path.read_text()) for path in (folder / stage).glob("*/manifest.json")]
    return float(max(manifests, key=lambda manifest: manifest["made_at"])["seconds"])


def cases(folder: Path) -> dict[str, tuple[str, ...]]:
    """Commands that end with the stage of their name."""
    pairs = folder / "pairs.csv"
    lines = (f"{i},{j},{t}\n" for t in TARGETS for i in range(N_IMAGES) for j in range(i))
    pairs.write_text("i,j,target\n" + "".join(lines))
    listed = ("test.design=list", f"test.file={pairs}", "test.chunk_pairs=20000", f"fit.targets={[*TARGETS]}")
    return {
        "fit": ("fit", "--config", "digits-all", "--set", "fit.targets=all"),
        "test": ("test", "--config", "digits", *(word for one in listed for word in ("--set", one))),
    }


def stage_turn(store: Path, own: Sequence[str], words: Sequence[str], turn: int) -> float:
    return stage_seconds(store, (*own, *words))


def training_seconds(folder: Path, words: Sequence[str], turn: int) -> float:
    """Of `train`, the start of its processes included: a cluster has started its own before."""
    begin = time.perf_counter()
    out = folder / f"set-{turn}-{words[0].strip('-')}"
    subprocess.run([*COMMAND, "train", "--out", str(out), "--models", str(MODELS), "--quiet", *words], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return time.perf_counter() - begin


def overhead(repeats: int) -> None:
    """Each case in turns, so that whatever else the machine does meets both."""
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name, workers(cores) as address:
        folder = Path(name)
        kinds: dict[str, tuple[Callable[[Sequence[str], int], float], str]] = {
            stage: (partial(stage_turn, folder / "store", own), f"--threads {cores}")
            for stage, own in cases(folder).items()
        }
        kinds["train"] = (partial(training_seconds, folder), f"--workers {cores}")
        print(f"| work | in-process, {cores} cores (s) | {cores} workers (s) | ratio | goal ≤ {GOAL} |")
        print("|---|---|---|---|---|")
        for kind, (measure, here) in kinds.items():
            measure(["--cluster", address], -1)  # Workers import and compile, and the stages before are made.
            alone, together = zip(
                *((measure(here.split(), turn), measure(["--cluster", address], turn)) for turn in range(repeats)),
                strict=True,
            )
            a, b = statistics.median(alone), statistics.median(together)
            print(f"| {kind} | {a:.1f} | {b:.1f} | {b / a:.2f} | {'met' if b <= GOAL * a else 'missed'} |", flush=True)


@dataclass(frozen=True)
class Nothing:
    """Units that make nothing."""

    def size(self, unit: int) -> float:
        return 1.0

    def open(self, threads: int) -> Callable[[int, Any], dict[str, Any]]:
        return lambda unit, advance: {"number": np.array(unit)}


def scheduler(count: int = 4_000) -> float:
    """Units a second, with a few of them in flight as always."""
    from pipeline.places.cluster import Cluster
    from pipeline.places.settings import ClusterSettings

    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name, workers(cores) as address:
        settings = ClusterSettings(address=address, in_flight=8)
        with Cluster(settings, Path(name), lambda line: None, quiet=True) as cluster:
            list(cluster.done(Nothing(), range(100), lambda step: None))
            begin = time.perf_counter()
            list(cluster.done(Nothing(), range(count), lambda step: None))
            rate = count / (time.perf_counter() - begin)
    print(f"\nThe scheduler, its client and {cores} workers on {cores} cores: {rate:.0f} units a second.")
    return rate


def in_words(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.0f} min" if hours >= 1 / 60 else f"{3600 * hours:.0f} s"


def scale_up(rate: float) -> None:
    """Hours by the costs of a unit, and the units a second that they ask of the scheduler."""
    print("\n| job | " + " | ".join(f"{cores:,} core{'s' * (cores > 1)}" for cores in CORES) + " | units/s at most |")
    print("|---|" + "---|" * (len(CORES) + 1))
    for job in LARGE:
        hours = " | ".join(in_words(job.hours(cores)) for cores in CORES)
        print(f"| {job.what} | {hours} | {max(map(job.units_a_second, CORES)):.2g} of {rate:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("overhead", "scheduler"), default=("overhead", "scheduler"))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if "overhead" in arguments.parts:
        overhead(arguments.repeats)
    if "scheduler" in arguments.parts:
        scale_up(scheduler())


if __name__ == "__main__":
    main()
