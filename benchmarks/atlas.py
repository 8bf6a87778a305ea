"""The atlas at the true held-out shape of CIFAR-10: 10,000 masks × 50,000 images × 10,000 float16 targets.

    python benchmarks/atlas.py                    all parts
    python benchmarks/atlas.py --parts stage      (a) `datamodels-inf` from cached weights to all influences on disk
    python benchmarks/atlas.py --parts product    (b) estimates alone, against one float32 matrix product
    python benchmarks/atlas.py --parts naive      (c) against masks unpacked to float32 and numpy, a target at a time
    python benchmarks/atlas.py --parts one        (d) one target

Masks of 25,000 of 50,000 images, drawn uniformly; every target has 250 weights (--weights) and noise of the same
variance. The files, 3 GB, are made once and kept in --folder; (a) needs 8 GB more of disk. --targets makes all of it
smaller. (b) counts one multiply-add per mask, image and target, n·d·T, though the estimates need that many twice, once
for predictions and once for sums.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from swap_test import timed, yes

SEED = 20_241
MODELS, IMAGES = 10_000, 50_000
FIT_ROWS = 200
"""Enough for the fit stage to see how the weights are coded."""
MINUTES, MEMORY_GB, PRODUCT_RATIO, NAIVE_RATIO, ONE_SECONDS = 12.0, 8.0, 0.5, 20.0, 0.2
SOME = 256
"""Targets that (b) and (c) take."""


def make_files(folder: Path, targets: int, weights: int) -> None:
    """A folder in the released layout, with weights; the last file says it is whole."""
    if (folder / "run.toml").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    print(f"making files in {folder} …", flush=True)
    from datamodels_inf import PackedMasks

    rng = np.random.default_rng(SEED)
    rows = FIT_ROWS + MODELS
    masks = np.lib.format.open_memmap(folder / "train_masks_50pct.npy", "w+", np.bool_, (rows, IMAGES))
    half = np.arange(IMAGES) < IMAGES // 2
    for start in range(0, rows, 200):
        masks[start : start + 200] = rng.permuted(np.tile(half, (min(200, rows - start), 1)), axis=1)
    masks.flush()
    bits = np.concatenate([np.packbits(masks[start : start + 1000], axis=1) for start in range(0, rows, 1000)])
    np.save(folder / "bits.npy", bits)
    weight = np.zeros((IMAGES, targets), np.float32)
    for target in range(targets):
        weight[rng.integers(0, IMAGES, weights), target] = rng.standard_normal(weights) * 2 / np.sqrt(weights)
    margins = np.lib.format.open_memmap(folder / "test_margins_50pct.npy", "w+", np.float16, (rows, targets))
    packed = PackedMasks(bits, IMAGES, tile_bytes=32 * 2**20)
    for start in range(0, targets, 1000):
        some = slice(start, start + 1000)
        noise = rng.standard_normal((rows, len(range(targets)[some])), np.float32)
        margins[:, some] = packed @ weight[:, some] + noise
    margins.flush()
    np.savez(folder / "weights.npz", weight=weight, bias=np.zeros(targets))
    np.savez(
        folder / "labels.npz",
        train_labels=np.arange(IMAGES) % 10,
        target_labels=np.arange(targets) % 10,
        class_names=np.array(list("abcdefghij")),
    )
    (folder / "run.toml").write_text(
        f'[source]\nkind = "files"\nfolder = "{folder}"\nlabels = "{folder / "labels.npz"}"\n'
        f"fit_rows = {FIT_ROWS}\nheld_out_rows = {MODELS}\n"
        f'[fit]\nmode = "load"\nfile = "{folder / "weights.npz"}"\n'
        '[test]\ntarget_class = "a"\nrepeats = 1\n[atlas]\ntargets = "all"\nfamily = "all"\n[report]\nname = "atlas"\n',
        encoding="utf-8",
    )


def run_command(arguments: list[str]) -> tuple[float, float]:
    """(seconds, peak resident GB) of a process."""
    start = time.perf_counter()
    program = "import sys; from pipeline.run import Pipeline; from pipeline.config_files import load_config; " + (
        "from pathlib import Path; config, store, last = sys.argv[1:4]; "
        "Pipeline(load_config(config, ()), Path(store), Path(store), force=sys.argv[4:], say=print).run(last)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(arguments)} failed")
    return seconds, usage.ru_maxrss * 1024 / 1e9


def measure_stage(folder: Path) -> None:
    """(a): a process of its own, from its start to the tiles on disk; then to the findings over everything."""
    common = [str(folder / "run.toml"), str(folder / "store")]
    run_command([*common, "test"])
    print("\n| until | minutes | within | peak GB | within |\n|---|---|---|---|---|", flush=True)
    total = 0.0
    for last in ("atlas", "influence"):
        seconds, peak = run_command([*common, last, last])
        total += seconds
        met = yes(total <= 60 * MINUTES), yes(peak <= MEMORY_GB)
        print(
            f"| {last} | {total / 60:.1f} | {MINUTES:.0f}: {met[0]} | {peak:.2f} | {MEMORY_GB:.0f}: {met[1]} |",
            flush=True,
        )


def some_targets(folder: Path) -> tuple[object, NDArray[np.float16], object]:
    """(masks, margins, datamodels) of the first SOME targets; masks memory-mapped."""
    from datamodels_inf import Datamodel, PackedMasks

    masks = PackedMasks(np.load(folder / "bits.npy", mmap_mode="r")[FIT_ROWS:], IMAGES)
    margins = np.load(folder / "test_margins_50pct.npy", mmap_mode="r")[FIT_ROWS:, :SOME]
    weight = np.load(folder / "weights.npz")["weight"][:, :SOME]
    count = weight.shape[1]
    return masks, np.ascontiguousarray(margins), Datamodel(weight, np.zeros(count), np.full(count, np.nan))


def measure_product(folder: Path, threads: int) -> None:
    """(b): n·d·T multiply-adds a second."""
    from datamodels_inf.atlas import AtlasMaker

    masks, margins, datamodel = some_targets(folder)
    maker = AtlasMaker(masks, threads)
    maker.tile(range(16), margins[:, :16], [datamodel.subset(range(16))])  # Compiles, or loads what was compiled.
    ours = timed(lambda: maker.tile(range(SOME), margins, [datamodel]))
    tile = np.unpackbits(masks.bits[:, :512], axis=1).astype(np.float32)
    residuals = margins.astype(np.float32)
    tile.T[:64] @ residuals
    product = timed(lambda: tile.T @ residuals) * IMAGES / tile.shape[1]
    rate = MODELS * IMAGES * SOME
    print(f"\n| {SOME} targets | multiply-adds/s | of the product |\n|---|---|---|")
    print(f"| float32 matrix product | {rate / product:.2e} | 1 |")
    print(f"| estimates and errors | {rate / ours:.2e} | {product / ours:.2f} (at least {PRODUCT_RATIO}: "
          f"{yes(product / ours >= PRODUCT_RATIO)}) |", flush=True)  # fmt: skip


def measure_naive(folder: Path, threads: int) -> None:
    """(c): the formula as one would write it, one target at a time, on masks that are unpacked once."""
    from datamodels_inf.atlas import AtlasMaker

    masks, margins, datamodel = some_targets(folder)
    maker = AtlasMaker(masks, threads)
    maker.tile(range(16), margins[:, :16], [datamodel.subset(range(16))])
    ours = timed(lambda: maker.tile(range(SOME), margins, [datamodel])) / SOME
    dense = np.unpackbits(masks.bits, axis=1).astype(np.float32)
    found = []

    def plain(t: int) -> None:
        theta = datamodel.weight[:, t]
        e = margins[:, t].astype(np.float32) - dense @ theta
        e -= e.mean()
        size = dense.sum(axis=1) / IMAGES
        kappa = np.mean(size * (1 - size))
        g = (dense - size[:, None]) * e[:, None]
        others = (theta.sum() - theta) / (IMAGES - 1)
        found.append((theta - others + g.mean(axis=0) / kappa, g.std(axis=0, ddof=1) / np.sqrt(MODELS) / kappa))

    each = timed(lambda: [plain(t) for t in range(2)]) / 2
    same = maker.tile(range(2), margins[:, :2], [datamodel.subset(range(2))])
    np.testing.assert_allclose(same.estimate, [estimate for estimate, _ in found], atol=1e-3)
    np.testing.assert_allclose(same.standard_error, [error for _, error in found], rtol=1e-3)
    print(f"\n| a target | seconds | of ours |\n|---|---|---|\n| ours, of {SOME} | {ours:.4f} | 1 |")
    print(f"| unpacked, numpy | {each:.2f} | {each / ours:,.0f} (at least {NAIVE_RATIO:.0f}: "
          f"{yes(each / ours >= NAIVE_RATIO)}) |", flush=True)  # fmt: skip


def measure_one(folder: Path, threads: int) -> None:
    """(d): all of `influence`, masks memory-mapped and in the system's cache; the median of five."""
    from datamodels_inf import influence

    masks, margins, datamodel = some_targets(folder)
    print("\n| one target | seconds | goal |\n|---|---|---|")
    dense = np.random.default_rng(SEED).standard_normal(IMAGES) * 0.01
    for name, theta in (("few weights", datamodel.weight[:, 0]), ("all weights", dense)):
        influence(masks, margins[:, 0], theta=theta, threads=threads)
        times = [timed(lambda t=theta: influence(masks, margins[:, 0], theta=t, threads=threads)) for _ in range(5)]
        print(
            f"| {name} | {np.median(times):.3f} | {ONE_SECONDS}: {yes(np.median(times) <= ONE_SECONDS)} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("one", "product", "naive", "stage")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--weights", type=int, default=250)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, help="where the files are kept; by default a temporary folder")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        make_files(folder, options.targets, options.weights)
        for part in options.parts:
            if part == "stage":
                measure_stage(folder)
            else:
                {"one": measure_one, "product": measure_product, "naive": measure_naive}[part](folder, options.threads)


if __name__ == "__main__":
    main()
