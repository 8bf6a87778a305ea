"""How many findings each way to use the models has: rows × method × correction, at a false discovery rate of 0.2.

    python benchmarks/power.py                 the embedded digits and simulated truths, some ten minutes
    python benchmarks/power.py --truths digits

All through the real stages, in a store of its own: the paper's design, 2000 pairs on the 12 digits of class 3, or on 12
simulated targets of 400 images and 12,000 models (random halves; margins xᵀθ + noise, half of their variance noise that
the targets share, with either sign). Sparse: a twentieth of the images have an influence; dense: all.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pyarrow import parquet

from datamodels_inf.findings import counts_by_correction
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Config
from pipeline.config_files import load_config
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline
from pipeline.stages.prior.files import read_prior

WAYS = {
    "held-out, 8000 to fit": ("test.rows=held-out", "source.fit_rows=8000", "source.held_out_rows=4000"),
    "held-out, by the rule": ("test.rows=held-out",),
    "progressive": ("test.rows=progressive",),
}
ROWS, IMAGES, TARGETS, SIGNAL = 12_000, 400, 12, 0.6
SHARES = {"sparse": 0.05, "dense": 1.0}


def simulate(folder: Path, share: float) -> list[str]:
    """A source folder, and the settings that read it."""
    rng = np.random.default_rng(0)
    masks = rng.permuted(np.tile(np.arange(IMAGES) < IMAGES // 2, (ROWS, 1)), axis=1)
    theta = np.where(rng.random((IMAGES, TARGETS)) < share, rng.normal(size=(IMAGES, TARGETS)), 0.0)
    theta *= np.sqrt(SIGNAL / (0.25 * np.square(theta - theta.mean(axis=0)).sum(axis=0)))
    shared = rng.normal(size=(ROWS, 1)) * rng.choice([-1.0, 1.0], TARGETS)
    noise = np.sqrt((1.0 - SIGNAL) / 2.0) * (shared + rng.normal(size=(ROWS, TARGETS)))
    folder.mkdir(parents=True)
    np.save(folder / "masks.npy", masks)
    np.save(folder / "margins.npy", (masks @ theta + noise).astype(np.float32))
    names = tuple(str(k) for k in range(10))
    Labels(np.arange(IMAGES) % 10, np.full(TARGETS, 3), names).save(folder / "labels.npz")
    return ["source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}"]


def configuration(settings: list[str]) -> Config:
    """The embedded set's, all methods, without rows of its own."""
    base = Path(__file__).parent / "power.toml"
    methods = ", ".join(f'"{name}"' for name in METHODS)
    return load_config(str(base), [f"test.method=[{methods}]", *settings])


def findings(config: Config, home: Path) -> Iterator[tuple[str, int, dict[str, int | None]]]:
    """(method, models that tested each pair, findings by correction)."""
    pipeline = Pipeline(config, home / "store", home / "reports", quiet=True)
    tests, prior = pipeline.run("test"), pipeline.run("prior")
    table = parquet.read_table(tests.folder / "tests.parquet")
    names, pvalue = np.asarray(table["method"]), table["pvalue"].to_numpy()
    for method in METHODS:
        own = pvalue[names == method]
        yield method, tests.summary["n_rows"][method], counts_by_correction(own, config.test, read_prior(prior, method))


def main() -> None:
    """Print one table for each truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--truths", nargs="+", choices=["digits", *SHARES], default=["digits", *SHARES])
    chosen = parser.parse_args().truths
    with tempfile.TemporaryDirectory() as place:
        for truth in chosen:
            home = Path(place) / truth
            source = [] if truth == "digits" else simulate(home / "source", SHARES[truth])
            print(f"\n{truth}\n\n| rows | method | models | {' | '.join(CORRECTIONS)} |")
            print(f"|{'---|' * (3 + len(CORRECTIONS))}")
            for way, settings in WAYS.items():
                for method, rows, found in findings(configuration([*source, *settings]), home):
                    counts = " | ".join("–" if found[name] is None else str(found[name]) for name in CORRECTIONS)
                    print(f"| {way} | {method} | {rows:,} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
