"""The LASSO at CIFAR-10's true size, and against its peers at a size that they can hold.

    python benchmarks/lasso.py --full                      300,000 × 50,000 masks, 1, 16 and 64 targets; then --growth
    python benchmarks/lasso.py --full --targets 64 256 --memory-gb 8 --no-growth
                                                           what a further target takes once all rows are counted
    python benchmarks/lasso.py --growth                    how the cost grows with n, d and the number of targets
    python benchmarks/lasso.py --peers                     scikit-learn, celer, skglm and adelie at 20,000 × 5,000

Each fit of --full and --growth is a process of its own, which reads memory-mapped masks from a file as the pipeline
does, so that the peak memory printed is that of the fit alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

EFFECTS = 500
"""Planted effects a target, of normal sizes; the noise has the variance of their sum."""
SEED = 20_221


def masks_file(folder: Path, n: int, d: int) -> Path:
    """n × d masks of fair coins, packed as the download stage packs them."""
    path = folder / f"masks-{n}-{d}.npy"
    if not path.exists():
        rng = np.random.default_rng(SEED)
        bits = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(n, (d + 7) // 8))
        for start in range(0, n, 10_000):
            bits[start : start + 10_000] = rng.integers(0, 256, bits[start : start + 10_000].shape, dtype=np.uint8)
        if d % 8:
            bits[:, -1] &= np.uint8(256 - 2 ** (8 - d % 8))
        bits.flush()
    return path


def planted(bits: NDArray[np.uint8], d: int, n_targets: int) -> tuple[NDArray[np.float16], list[NDArray[np.int64]]]:
    """(margins in float16, the images with an effect of each target)."""
    from datamodels_inf import PackedMasks

    rng = np.random.default_rng(SEED + 1)
    theta, images = np.zeros((d, n_targets), np.float32), []
    noise = np.empty((len(bits), n_targets), np.float32)
    for t in range(n_targets):
        images.append(np.sort(rng.choice(d, min(EFFECTS, d // 10), replace=False)))
        theta[images[t], t] = rng.standard_normal(images[t].size)
        noise[:, t] = rng.standard_normal(len(bits))
    signal = PackedMasks(bits, d) @ theta
    signal -= signal.mean(axis=0)
    return (signal / signal.std(axis=0) + noise + 1).astype(np.float16), images


def planted_file(path: Path, d: int, n_targets: int) -> Path:
    """What `planted` plants, as a file beside the masks: made by a process of its own, whose memory does not count."""
    file = path.with_name(f"{path.stem}-planted-{n_targets}.npz")
    if not file.exists():
        subprocess.run([sys.executable, __file__, "--plant", str(path), str(d), str(n_targets), str(file)], check=True)
    return file


def fit(path: Path, d: int, n_targets: int, memory_gb: float) -> dict[str, float]:
    """One timed fit in this process."""
    from datamodels_inf import PackedMasks
    from datamodels_inf.lasso.prefixes import fit_lasso
    from datamodels_inf.lasso.solver import Lasso, as_datamodel, count_validation_rows
    from pipeline.stages.fit.sums_file import SumsFile

    rng = np.random.default_rng(0)
    fit_lasso(rng.random((200, 20)) < 0.5, rng.standard_normal((200, 2)))  # Compiles, or loads what was compiled.
    with np.load(planted_file(path, d, n_targets)) as arrays:
        margins, images = arrays["margins"], arrays["images"]
    masks = PackedMasks(np.load(path, mmap_mode="r"), d)
    start, cpu = time.perf_counter(), cpu_seconds()
    validation = count_validation_rows(masks.n_models, None)
    lasso = Lasso(masks, validation_rows=validation, memory_gb=memory_gb, kept=SumsFile(path.parent))
    prepared = time.perf_counter()
    counting = timed(lasso.gram, "require")
    choices = lasso.choose(margins)
    chosen = time.perf_counter()
    fits = lasso.refit(margins, [choice.best for choice in choices])
    datamodel = as_datamodel(fits, d)
    end = time.perf_counter()
    found = [set(f.features.tolist()) for f in fits]
    largest = [set(np.argsort(-np.abs(datamodel.weight[:, t]))[: len(i)].tolist()) for t, i in enumerate(images)]
    true = [set(i.tolist()) for i in images]
    return {
        "seconds": end - start,
        "cpu": cpu_seconds() - cpu,
        "prepare": prepared - start,
        "choose": chosen - prepared,
        "refit": end - chosen,
        "counting": sum(counting),
        "gram_rows": lasso.gram.counted,
        "steps": float(np.mean([choice.mse.size for choice in choices])),
        "n_nonzero": float(np.mean(datamodel.n_nonzero)),
        "gap": max(f.gap for f in fits),
        "path_gap": max(float(choice.gap.max()) for choice in choices),
        "precision": float(np.mean([len(f & t) / len(f) for f, t in zip(found, true, strict=True)])),
        "recall": float(np.mean([len(f & t) / len(t) for f, t in zip(found, true, strict=True)])),
        "precision_largest": float(np.mean([len(f & t) / len(t) for f, t in zip(largest, true, strict=True)])),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def cpu_seconds() -> float:
    """Of all threads of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(owner: object, name: str) -> list[float]:
    """The seconds that each call of a method takes, from now on."""
    method, seconds = getattr(owner, name), []

    def wrapper(*arguments: object) -> object:
        start = time.perf_counter()
        try:
            return method(*arguments)
        finally:
            seconds.append(time.perf_counter() - start)

    setattr(owner, name, wrapper)
    return seconds


def fit_in_process(path: Path, d: int, n_targets: int, memory_gb: float) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", str(path), str(d), str(n_targets), "--memory-gb", str(memory_gb)]
    line = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    return dict(json.loads(line))


HEAD = (
    "| n | d | targets | seconds | CPU seconds | of it: transpose, paths, refit | of it: counting rows | rows counted "
    "| λ a path | weights a target | largest gap | precision / recall | precision of the largest | peak GB |\n"
    + "|---" * 14
    + "|"
)


def row(n: int, d: int, n_targets: int, r: dict[str, float]) -> str:
    return (
        f"| {n:,} | {d:,} | {n_targets} | {r['seconds']:.1f} | {r['cpu']:.0f} "
        f"| {r['prepare']:.1f}, {r['choose']:.1f}, {r['refit']:.1f} "
        f"| {r['counting']:.1f} | {r['gram_rows']:,.0f} | {r['steps']:.0f} | {r['n_nonzero']:.0f} "
        f"| {max(r['gap'], r['path_gap']):.1e} | {r['precision']:.2f} / {r['recall']:.2f} "
        f"| {r['precision_largest']:.3f} | {r['peak_gb']:.1f} |"
    )


def table(folder: Path, sizes: list[tuple[int, int, int]], memory_gb: float) -> list[dict[str, float]]:
    print(HEAD, flush=True)
    results = []
    for n, d, n_targets in sizes:
        results.append(fit_in_process(masks_file(folder, n, d), d, n_targets, memory_gb))
        print(row(n, d, n_targets, results[-1]), flush=True)
    return results


def extrapolate(few: int, many: int, a: dict[str, float], b: dict[str, float]) -> str:
    """To 10,000 targets, by the straight line through two runs: it holds the rows that are counted again, too."""
    each, cpu = ((b[name] - a[name]) / (many - few) for name in ("seconds", "cpu"))
    hours = (b["seconds"] + (10_000 - many) * each) / 3600
    return (
        f"10,000 targets, from {few} and {many}: {each:.2f} s and {cpu:.2f} CPU s a target, {hours:.2f} hours in all; "
        f"{b['gram_rows'] - a['gram_rows']:,.0f} rows were counted for the last {many - few}"
    )


def growth(folder: Path, memory_gb: float) -> None:
    """How the cost grows with n, d and the number of targets, at a quarter of the true size."""
    n, d, t = 75_000, 12_500, 16
    sizes = [(n, d, t), (2 * n, d, t), (n, 2 * d, t), (n, d, 2 * t), (n, d, 4 * t)]
    once, *more = table(folder, sizes, memory_gb)
    print()
    changes = ("twice the rows", "twice the images", "twice the targets", "four times the targets")
    for change, result in zip(changes, more, strict=True):
        print(f"- {change}: {result['seconds'] / once['seconds']:.2f} times the seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--targets", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--memory-gb", type=float, default=7.0, help="as in the configuration")
    parser.add_argument("--folder", type=Path, help="where the masks are kept; by default a temporary folder")
    parser.add_argument("--no-growth", action="store_true", help="with --full: only the table at that size")
    parser.add_argument("--plant", nargs=4, metavar=("MASKS", "D", "TARGETS", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=3, metavar=("MASKS", "D", "TARGETS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit(Path(options.one[0]), int(options.one[1]), int(options.one[2]), options.memory_gb)))
        return
    if options.plant:
        margins, images = planted(
            np.load(options.plant[0], mmap_mode="r"), int(options.plant[1]), int(options.plant[2])
        )
        np.savez(options.plant[3], margins=margins, images=np.array(images))
        return
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.full:
            found = table(folder, [(options.rows, options.images, t) for t in options.targets], options.memory_gb)
            if len(found) > 1:
                print("\n" + extrapolate(*options.targets[-2:], *found[-2:]) + "\n")
        if (options.full and not options.no_growth) or options.growth:
            growth(folder, options.memory_gb)
        if options.peers:
            from lasso_peers import main as compare

            sys.exit(compare([]))


if __name__ == "__main__":
    main()
