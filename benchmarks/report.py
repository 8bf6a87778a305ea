"""The report of millions of tests: seconds, peak memory and sizes of the report stage, in a process of its own.

    python benchmarks/report.py                     2,000,000 pairs × 4 methods, a hundredth of them planted findings
    python benchmarks/report.py --pairs 200000 --found 0.5

Rows, images and datamodels are those of the embedded digits, through the real stages; the table of tests is made up: of
each method uniform p-values, and tiny ones with large effects for the planted pairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from datamodels_inf.internal.checks import Ints
from datamodels_inf.methods import METHODS
from pipeline.config import Config
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages import STAGES, Run
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.report import stage as report_stage
from pipeline.stages.test.tests_table import FLOATS, ROWS
from pipeline.store.cache import Result
from pipeline.summaries import TestSummary, read_summary

NEEDED = ("download", "fit", "test")
MEGABYTE = 1e6


def configuration(*settings: str) -> Config:
    """The embedded digits with all methods, and few pairs that are really tested."""
    methods = ", ".join(f'"{name}"' for name in METHODS)
    return load_config("digits", [f"test.method=[{methods}]", *settings])


def finished(config: Config, store: Path) -> dict[str, Result]:
    """The stages before the report, run."""
    pipeline = Pipeline(config, store, store / "reports", quiet=True)
    pipeline.run("test")
    return pipeline.finished(NEEDED, "this benchmark")


def with_tests(results: Mapping[str, Result], config: Config, folder: Path, n: int, share: float) -> dict[str, Result]:
    """The same results with a table of n pairs for each method; a `share` of them is planted."""
    test = results["test"]
    methods = list(config.test.method)
    data, targets = Data.of(results["download"], config), Fitted.of(results["fit"]).targets
    write_table(folder / "tests.parquet", data, targets, methods, n, share)
    summary = read_summary(test, TestSummary).model_copy(update={"n_tests": n, "n_untested": 0, "notes": {}})
    made = Result(folder, {**test.manifest, "summary": summary.as_json()})
    return {**results, "test": made}


def write_table(path: Path, data: Data, targets: Ints, methods: list[str], n: int, share: float) -> None:
    """Groups of rows as the test stage writes them."""
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for place, method in enumerate(methods):
        for start in range(0, n, ROWS):
            rng = np.random.default_rng([7, start])  # The pairs and effects of all methods are the same.
            own = np.random.default_rng([8, place, start])
            columns = _columns(rng, own, data, targets, min(ROWS, n - start), share)
            table = pa.table({"method": pa.array([method] * len(columns["i"])), **columns})
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    assert writer is not None
    writer.close()


def _columns(
    shared: np.random.Generator, own: np.random.Generator, data: Data, targets: Ints, n: int, share: float
) -> dict[str, Any]:
    import pyarrow as pa

    labels = data.labels
    assert labels is not None
    i = shared.integers(0, data.n_train, n)
    j = (i + shared.integers(1, data.n_train, n)) % data.n_train
    target = shared.choice(targets, n)
    planted = shared.random(n) < share
    effect = np.where(planted, shared.normal(0, 3, n), shared.normal(0, 0.05, n))
    error = shared.uniform(0.04, 0.06, n)
    p = np.where(planted, 10.0 ** own.uniform(-30, -12, n), own.random(n))
    floats = {
        "statistic": own.uniform(0.4, 0.6, n), "pvalue": p, "theta_i": shared.normal(0, 0.1, n),
        "theta_j": shared.normal(0, 0.1, n), "effect": effect, "effect_low": effect - 1.96 * error,
        "effect_high": effect + 1.96 * error, "effect_se": error,
        "effect_df": shared.integers(900, 1100, n).astype(float),
    }  # fmt: skip
    names = np.array(labels.class_names, object)
    offsets = pa.array(np.arange(n + 1, dtype=np.int32))
    return {
        "i": i, "j": j, "target": target, **{name: floats[name] for name in FLOATS},
        "n_informative": shared.integers(900, 1100, n), "class_i": pa.array(names[labels.train_labels[i]], pa.string()),
        "class_j": pa.array(names[labels.train_labels[j]], pa.string()),
        "class_target": pa.array(names[labels.target_labels[target]], pa.string()),
        "note": pa.array([""] * n, pa.string()), "members_i": pa.ListArray.from_arrays(offsets, pa.array(i)),
        "members_j": pa.ListArray.from_arrays(offsets, pa.array(j)),
    }  # fmt: skip


@dataclasses.dataclass
class Watch:
    """When the bar moved."""

    steps: list[float] = dataclasses.field(default_factory=lambda: [time.monotonic()])
    done: float = 0.0

    def advance(self, step: float) -> None:
        self.steps.append(time.monotonic())
        self.done += step

    @property
    def longest(self) -> float:
        """The longest time without a step, in seconds."""
        return float(np.diff([*self.steps, time.monotonic()]).max())


def watched(watch: Watch) -> Callable[..., Any]:
    """A bar that is only looked at."""

    @contextmanager
    def bar(total: float, unit: str, what: str, quiet: bool) -> Iterator[Callable[[float], object]]:
        yield watch.advance

    return bar


def report(config: Config, results: Mapping[str, Result], out: Path) -> dict[str, float]:
    """Run the report stage here, and say what it took."""
    out.mkdir()
    run = Run(config, results, out, out / "x", out, None, True, print, lambda _: True, False, "benchmarks/report.py")
    watch, start, cpu = Watch(), time.monotonic(), time.process_time()
    with mock.patch.object(report_stage, "progress_bar", watched(watch)):
        summary = STAGES["report"].run(run)
    files = [path for path in out.rglob("*") if path.is_file()]
    return {
        "tests": summary.n_tests,
        "findings": sum(summary.n_findings.values()),
        "seconds": time.monotonic() - start,
        "CPU seconds": time.process_time() - cpu,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE,
        "longest seconds without a step": watch.longest,
        "bar at the end, %": watch.done,
        "index.html MB": (out / "index.html").stat().st_size / MEGABYTE,
        "report.json MB": (out / "report.json").stat().st_size / MEGABYTE,
        "tests.csv MB": (out / "tests.csv").stat().st_size / MEGABYTE,
        "findings.csv MB": (out / "findings.csv").stat().st_size / MEGABYTE,
        "panels": sum(path.parent.name == "panels" for path in files),
        "panels MB": sum(path.stat().st_size for path in files if path.parent.name == "panels") / MEGABYTE,
    }


def _reported(config: Config, results: Mapping[str, Result], out: Path, told: Any) -> None:
    told.send(report(config, results, out))


def in_own_process(config: Config, results: Mapping[str, Result], out: Path) -> dict[str, float]:
    """The same where nothing else has grown the memory."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_reported, args=(config, dict(results), out, there))
    process.start()
    closer = threading.Thread(target=lambda: (process.join(), there.close()))
    closer.start()
    try:
        return dict(here.recv())
    except EOFError:
        sys.exit(f"the report stage ended with {process.exitcode}")


def main() -> None:
    """Print what the stage took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--found", type=float, default=0.01, help="share of planted findings")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    config = configuration()
    with tempfile.TemporaryDirectory() as folder:
        results = with_tests(finished(config, Path(folder)), config, Path(folder), asked.pairs, asked.found)
        figures = in_own_process(config, results, Path(folder) / "report")
    if asked.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:<32} {value:>14,.{0 if value == int(value) else 1}f}")


if __name__ == "__main__":
    main()
