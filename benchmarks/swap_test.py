"""The tests at the true held-out shape of CIFAR-10: 10,000 × 50,000 masks, 10,000 float16 targets as a memory map.

    python benchmarks/swap_test.py                         all parts
    python benchmarks/swap_test.py --parts stage methods   (a) the paper's 2000 tests, end to end; by all four methods
    python benchmarks/swap_test.py --parts dense lasso     (b) one target × 1,000,000 pairs, all weights or few
    python benchmarks/swap_test.py --parts naive           (c) against copy, swap, multiply

Fair-coin masks; of the 1,000 dogs, margins that follow 2,500 weights each with noise of the same variance. The files,
3 GB, are made once and kept in --folder. (a) is the command line: the stages before the test are run first and are
found cached then, so that time and memory are those of `datamodels-inf test`, a process of its own, from its start on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 20_236
MODELS, IMAGES, TARGETS = 10_000, 50_000, 10_000
FIT_ROWS = 200
"""Enough for the fit stage to see how the weights are coded."""
WEIGHTS = 2_500
"""Of a target, as the LASSO leaves them at this size."""
DOG = 5
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
METHODS = ("swap", "swap-exact", "paired", "contrast")

SECONDS, MEMORY_GB, NAIVE_RATIO = 60.0, 2.0, 1000.0
PAIRS_PER_SECOND = {"swap": 200_000, "contrast": 20_000}


def make_files(folder: Path) -> None:
    """A folder in the released layout, weights, labels, and the same masks as bits; the last file says it is whole."""
    if (folder / "run.toml").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    print(f"making 3 GB of files in {folder} …", flush=True)
    from datamodels_inf import PackedMasks

    rng = np.random.default_rng(SEED)
    rows = FIT_ROWS + MODELS
    bits = rng.integers(0, 256, (rows, IMAGES // 8), dtype=np.uint8)
    np.save(folder / "bits.npy", bits)
    masks = np.lib.format.open_memmap(folder / "train_masks_50pct.npy", "w+", np.bool_, (rows, IMAGES))
    for start in range(0, rows, 1000):
        masks[start : start + 1000] = np.unpackbits(bits[start : start + 1000], axis=1).view(np.bool_)
    masks.flush()
    target_labels = np.arange(TARGETS) % len(CLASSES)
    dogs = np.flatnonzero(target_labels == DOG)
    weight = np.zeros((IMAGES, TARGETS), np.float32)
    for target in dogs:
        chosen = rng.choice(IMAGES, WEIGHTS, replace=False)
        weight[chosen, target] = rng.standard_normal(WEIGHTS) * 2 / np.sqrt(WEIGHTS)
    margins = np.empty((rows, TARGETS), np.float16)
    for start in range(0, rows, 1000):
        margins[start : start + 1000] = rng.standard_normal((min(1000, rows - start), TARGETS), np.float32)
    packed = PackedMasks(bits, IMAGES, tile_bytes=32 * 2**20)
    for some in np.split(dogs, 4):
        margins[:, some] += packed @ weight[:, some].astype(np.float64)
    np.save(folder / "test_margins_50pct.npy", margins)
    np.savez(folder / "weights.npz", weight=weight, bias=np.zeros(TARGETS))
    np.save(folder / "theta.npy", weight[:, DOG])
    np.savez(
        folder / "labels.npz",
        train_labels=np.arange(IMAGES) % len(CLASSES),
        target_labels=target_labels,
        class_names=np.array(CLASSES),
    )
    (folder / "run.toml").write_text(
        f'[source]\nkind = "files"\nfolder = "{folder}"\nlabels = "{folder / "labels.npz"}"\n'
        f"fit_rows = {FIT_ROWS}\nheld_out_rows = {MODELS}\n"
        f'[fit]\nmode = "load"\nfile = "{folder / "weights.npz"}"\ntargets = "needed"\n'
        '[test]\ndesign = "paper"\ntarget_class = "dog"\nrepeats = 20\n[report]\nname = "swap-test"\n',
        encoding="utf-8",
    )


def held_out(folder: Path) -> tuple[object, NDArray[np.float16], NDArray[np.float32]]:
    """(masks, margins of one dog, its weights): masks and margins memory-mapped."""
    from datamodels_inf import PackedMasks

    masks = PackedMasks(np.load(folder / "bits.npy", mmap_mode="r")[FIT_ROWS:], IMAGES)
    margins = np.load(folder / "test_margins_50pct.npy", mmap_mode="r")[FIT_ROWS:]
    return masks, margins[:, DOG], np.load(folder / "theta.npy")


def run_command(arguments: list[str]) -> tuple[float, float]:
    """(seconds, peak resident GB) of a process."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "pipeline.cli", *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(arguments)} failed")
    return seconds, usage.ru_maxrss * 1024 / 1e9


def measure_stage(folder: Path, methods: tuple[str, ...]) -> None:
    """(a)"""
    common = ["--config", str(folder / "run.toml"), "--store", str(folder / "store"), "--quiet"]
    common += ["--set", f"test.method=[{', '.join(map(repr, methods))}]"]
    run_command(["fit", *common])
    seconds, peak = run_command(["test", *common, "--force", "test"])
    met = yes(seconds <= SECONDS), yes(peak <= MEMORY_GB)
    print(f"\n| tests | seconds | within {SECONDS:.0f} | peak GB | within {MEMORY_GB:.0f} |\n|---|---|---|---|---|")
    print(f"| 2000 by {', '.join(methods)} | {seconds:.1f} | {met[0]} | {peak:.2f} | {met[1]} |", flush=True)


def measure_pairs(folder: Path, part: str, count: int, threads: int) -> None:
    """(b): everything that a call does, the product of masks and weights too."""
    from datamodels_inf import SquaredResidual, contrast_many, paired_swap_test_many, swap_test_many

    masks, y, theta = held_out(folder)
    rng = np.random.default_rng(SEED + 1)
    if part == "dense":
        theta = rng.standard_normal(IMAGES) * 0.01
    pairs = rng.integers(0, IMAGES - 1, (count, 2))
    pairs[:, 1] += pairs[:, 1] >= pairs[:, 0]
    score = SquaredResidual(theta)
    runs: dict[str, Callable[[NDArray[np.int64]], object]] = {
        "swap": lambda pairs: swap_test_many(masks, y, pairs, score=score, threads=threads),
        "paired": lambda pairs: paired_swap_test_many(masks, y, pairs, score=score, threads=threads),
        "contrast": lambda pairs: contrast_many(masks, y, pairs, theta=theta, threads=threads),
    }
    print(
        f"\n{np.count_nonzero(theta):,} weights, {np.unique(pairs).size:,} images in {count:,} pairs, {threads} threads"
    )
    print("| test | seconds | pairs/s | goal | peak GB so far |\n|---|---|---|---|---|", flush=True)
    for name, run in runs.items():
        run(pairs[:10])  # Compiles, or loads what was compiled.
        seconds = timed(lambda run=run: run(pairs))
        goal = PAIRS_PER_SECOND.get(name)
        met = "" if goal is None else f"{goal:,}: {yes(count / seconds >= goal)}"
        print(f"| {name} | {seconds:.1f} | {count / seconds:,.0f} | {met} | {peak_gb():.2f} |", flush=True)


def measure_naive(folder: Path, count: int, threads: int) -> None:
    """(c): the paper's statistic by a copy of the masks with two columns exchanged, in float32 and with BLAS."""
    from datamodels_inf import SquaredResidual, swap_test_many

    masks, y, theta = held_out(folder)
    rng = np.random.default_rng(SEED + 2)
    pairs = np.array([rng.choice(np.flatnonzero(theta), 2, replace=False) for _ in range(count)])
    score = SquaredResidual(theta)
    swap_test_many(masks, y, pairs[:3], score=score)
    ours = timed(lambda: swap_test_many(masks, y, pairs, score=score, threads=threads)) / count
    fast = swap_test_many(masks, y, pairs[:3], score=score).statistic
    h = MODELS // 2
    dense, response = masks.to_bool().astype(np.float32), np.asarray(y, np.float32)
    untouched = (response[:h] - dense[:h] @ theta) ** 2
    naive, second = [], dense[h:]

    def swap_and_multiply(i: int, j: int) -> None:
        swapped = second.copy()
        swapped[:, [i, j]] = swapped[:, [j, i]]
        naive.append(float(np.mean(untouched > (response[h:] - swapped @ theta) ** 2)))

    each = timed(lambda: [swap_and_multiply(i, j) for i, j in pairs[:3]]) / 3
    np.testing.assert_allclose(fast, naive, atol=2 / h)  # Float32 may decide a comparison or two otherwise.
    print(f"\n| pair | seconds | of ours |\n|---|---|---|\n| ours, of {count:,} | {ours:.2e} | 1 |")
    print(f"| copy, swap, multiply | {each:.2e} | {each / ours:,.0f} (at least {NAIVE_RATIO:,.0f}: "
          f"{yes(each / ours >= NAIVE_RATIO)}) |", flush=True)  # fmt: skip


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_gb() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def yes(met: bool) -> str:
    return "yes" if met else "**no**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("stage", "methods", "dense", "lasso", "naive")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, help="where the files are kept; by default a temporary folder")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        make_files(folder)
        for part in options.parts:
            if part in ("stage", "methods"):
                measure_stage(folder, METHODS[:1] if part == "stage" else METHODS)
            elif part == "naive":
                measure_naive(folder, min(options.pairs, 200_000), options.threads)
            else:
                measure_pairs(folder, part, options.pairs, options.threads)


if __name__ == "__main__":
    main()
