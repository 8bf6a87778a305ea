"""The figures of docs/cifar10-study.md, from the models that come with the package (configuration `cifar10-study`).

    python benchmarks/cifar10_study.py --store data                 everything, some twenty minutes on two cores
    python benchmarks/cifar10_study.py --store data --parts findings growth

All through the real stages, in the given store, so that what is cached is not made again. `sizing` trains a pilot of
its own seed and looks at nothing else: it is how the number of models was chosen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from datamodels_inf.findings import Family, counts_by_correction
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.neighbours.neighbours import pixel_vectors
from datamodels_inf.power import paired_power, swap_power, unpaired_win_probability
from datamodels_inf.prediction.mixture import ScaleMixture
from datamodels_inf.row_planning import rows_by_method
from datamodels_inf.training.draws import draw_masks
from datamodels_inf.training.patch_features import learn_patch_features
from datamodels_inf.training.train import train_margins
from pipeline.commands.train import UNLABELLED, train_from_settings
from pipeline.config import Config
from pipeline.config_files import load_config
from pipeline.images.image_set import ImageSet, Labels
from pipeline.run import Pipeline
from pipeline.sources.embedded import HOME
from pipeline.stages.prior.files import read_prior
from pipeline.store.cache import Result
from pipeline.training.inputs import Features
from pipeline.training.trained_set import TrainedSet

Floats = NDArray[np.float64]

STUDY = "cifar10-study"
FOLDER = HOME / STUDY
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
ALL_METHODS = "test.method=[" + ", ".join(f'"{name}"' for name in METHODS) + "]"
WAYS = {"held-out": "test.rows=held-out", "progressive": "test.rows=progressive"}
DESIGNS = {
    "the paper's": (),
    "top": ("test.design=top",),
}
ALPHA = 0.2


def configuration(*settings: str) -> Config:
    """The study's, with all methods."""
    return load_config(STUDY, [ALL_METHODS, *settings])


def made(config: Config, store: Path, last: str) -> Result:
    """The result of a stage, quietly."""
    return Pipeline(config, store, store / "reports", quiet=True).run(last)


def tests_of(result: Result) -> dict[str, NDArray[Any]]:
    """The columns of a test stage."""
    table = parquet.read_table(result.folder / "tests.parquet")
    return {name: np.asarray(table[name].to_pylist()) for name in table.column_names if not name.startswith("members")}


# Before anything of the study was looked at: how many models.


PILOT = 78, 10_240
"""Seed and number of models of the pilot."""


def sizing(store: Path) -> Iterator[str]:
    """What is to be expected of N models, by a pilot of another seed that is used for nothing else."""
    seed, count = PILOT
    folder = store / "trained" / "cifar10-pilot"
    train = load_config(STUDY, [f"train.seed={seed}", f"train.n_models={count}"]).train
    for _ in train_from_settings(train, folder, store, None, False, lambda line: None):
        pass
    files = ("source.kind=files", f"source.folder={folder}", "source.set=", f"source.fit_rows={count // 2}")
    strengths, sigma = law_of_effects(configuration(WAYS["held-out"], *files), store)
    largest = np.sort(strengths)[::-1]
    some = ", ".join(f"{c:.2f}" for c in largest[:3])
    yield f"Residual standard deviation {sigma:.2f}; the largest of 2000 effects, in these: {some}"
    yield ""
    yield "| models in all | tested | " + " | ".join(METHODS) + " |"
    yield f"|{'---|' * (2 + len(METHODS))}"
    for n in (8_000, 16_000, 24_000, 31_000, 40_000, 60_000):
        rows = rows_by_method("held-out", n, train.n_train)
        expected = expected_findings(strengths, rows)
        yield f"| {n:,} | {rows['swap']:,} | " + " | ".join(f"{expected[name]:.1f}" for name in METHODS) + " |"


def accuracy(store: Path) -> Iterator[str]:
    """Of the first 64 models on all test images, whose features are made again."""
    trained = TrainedSet.of(configuration(), "this part")
    job, inputs = trained.job, trained.inputs()
    images = ImageSet.load(store / "images" / "cifar10.npz")
    learned = learn_patch_features(images.train[-UNLABELLED:], recipe=job.features, seed=job.seed)
    masks = draw_masks(job.n_train, 0, 64, seed=job.seed, proportion=job.proportion, law=job.law)
    margins = train_margins(
        inputs.train, inputs.labels.train_labels, learned.of(images.targets), images.target_labels, masks,
        first=0, recipe=job.recipe, seed=job.seed, n_classes=len(images.class_names),
    )  # fmt: skip
    right = (margins > 0).mean(axis=1)
    yield f"- {right.mean():.1%} of the test images are right (single models {right.min():.1%} to {right.max():.1%})"
    dog = images.target_labels == images.class_names.index("dog")
    yield f"- of the dogs {(margins[:, dog] > 0).mean():.1%}"


# How many findings: by design, rows, method and correction.


def findings(store: Path) -> Iterator[str]:
    """One table: findings of every method and correction, of both designs and both ways to use rows."""
    yield f"| design | rows | test | models that test | {' | '.join(CORRECTIONS)} |"
    yield f"|{'---|' * (4 + len(CORRECTIONS))}"
    for design, settings in DESIGNS.items():
        for way, rows in WAYS.items():
            config = configuration(*settings, rows)
            tests, prior = made(config, store, "test"), made(config, store, "prior")
            columns = tests_of(tests)
            for method in METHODS:
                own = columns["pvalue"][columns["method"] == method]
                found = counts_by_correction(own, config.test, read_prior(prior, method))
                cells = " | ".join("–" if found[name] is None else f"{found[name]:,}" for name in CORRECTIONS)
                yield f"| {design} ({len(own):,}) | {way} | {method} | {tests.summary['n_rows'][method]:,} | {cells} |"


def quality(store: Path) -> Iterator[str]:
    """R² and rank correlation on models that the fit has not seen, and what the atlas says of weights."""
    for way, rows in WAYS.items():
        fit = made(configuration(rows, "fit.targets=all"), store, "fit").summary
        r2 = np.array([value for value in fit["quality"]["r2"] if value is not None])
        yield (
            f"- {way}: median R² {np.median(r2):.3f} (a tenth of the targets below {np.quantile(r2, 0.1):.2f}, "
            f"a tenth above {np.quantile(r2, 0.9):.2f}), median Spearman {fit['spearman_median']:.3f}, "
            f"median nonzero weights {fit['n_nonzero_median']:,.0f}"
        )
        everything = "fit.targets=all", "atlas.targets=all", "atlas.family=all"
        said = made(configuration(rows, *everything), store, "influence").summary
        yield (
            f"- {way}, single images: {said['n_found']:,} of {said['n_tests']:,} influences are findings (one family); "
            f"{said['n_stand']:,} of {said['n_nonzero']:,} nonzero LASSO weights stand the test"
        )


# Is the more helpful image the one that looks more like the target?


def nearness(store: Path) -> Iterator[str]:
    """Of the findings by contrast, how often the more helpful image is the nearer one."""
    config = configuration(WAYS["held-out"])
    columns = tests_of(made(config, store, "test"))
    own = columns["method"] == "contrast"
    found = Family(columns["pvalue"][own], config.test).found
    i, j, target, effect = (columns[name][own][found] for name in ("i", "j", "target", "effect"))
    helpful, other = np.where(effect > 0, i, j), np.where(effect > 0, j, i)
    images = ImageSet.load(made(config, store, "download").folder / "images.npz")
    features = Features.load(FOLDER / "features.npz")
    labels = features.labels
    dog = labels.class_names.index(config.test.target_class)
    dogs = (labels.train_labels[i] == dog).astype(int) + (labels.train_labels[j] == dog)
    groups = {
        "all findings": dogs >= 0,
        "one of the two is a dog": dogs == 1,
        "both are dogs": dogs == 2,
        "neither is a dog": dogs == 0,
    }
    yield "| findings by contrast | how many | nearer in pixels | nearer in features |"
    yield "|---|---|---|---|"
    spaces = {
        "pixels": (pixel_vectors(images.train), pixel_vectors(images.targets)),
        "features": (features.train.astype(float), features.targets.astype(float)),
    }
    nearer = {
        name: _distance(train, targets, helpful, target) < _distance(train, targets, other, target)
        for name, (train, targets) in spaces.items()
    }
    for name, inside in groups.items():
        cells = [_share(nearer[space][inside], target[inside]) for space in spaces]
        yield f"| {name} | {inside.sum()} | {cells[0]} | {cells[1]} |"


def _distance(train: Any, targets: Any, images: Any, target: Any) -> Any:
    return np.linalg.norm(train[images] - targets[target], axis=1)


def _share(hits: NDArray[np.bool_], cluster: NDArray[np.int64], draws: int = 4000) -> str:
    """A share with a 95 % bootstrap interval over targets: findings of one target share its margins."""
    if not len(hits):
        return "–"
    kinds, place = np.unique(cluster, return_inverse=True)
    n, k = np.bincount(place), np.bincount(place, weights=hits)
    drawn = np.random.default_rng(0).integers(0, len(kinds), (draws, len(kinds)))
    shares = k[drawn].sum(axis=1) / n[drawn].sum(axis=1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return f"{hits.mean():.0%} ({low:.0%} to {high:.0%})"


# Findings against models: measured on parts of the set, and predicted from the law of effects.


def growth(store: Path) -> Iterator[str]:
    """Findings (BY) of the paper's design with the first N models, and what the law of effects predicts."""
    n_models = json.loads((FOLDER / "manifest.json").read_text())["job"]["n_models"]
    counts = [n for n in (2000, 4000, 8000, 16_000) if n < n_models] + [n_models]
    measured = {n: _findings_of_first(n, store) for n in counts}
    strengths, _ = law_of_effects(configuration(WAYS["held-out"]), store)
    n_train = Features.load(FOLDER / "features.npz").train.shape[0]
    yield "| models | " + " | ".join(f"{name} (expected)" for name in METHODS) + " |"
    yield f"|{'---|' * (1 + len(METHODS))}"
    for n in counts:
        expected = expected_findings(strengths, rows_by_method("held-out", n, n_train))
        cells = " | ".join(f"{measured[n][name]} ({expected[name]:.0f})" for name in METHODS)
        yield f"| {n:,} | {cells} |"
    yield ""
    yield "| the released set, if effects are … | models that test | " + " | ".join(METHODS) + " |"
    yield f"|{'---|' * (2 + len(METHODS))}"
    spread = np.sqrt(n_train / 50_000)
    for words, scale in (("as large as here", 1.0), (f"{1 / spread:.1f} times smaller (50,000 images share)", spread)):
        for rows in (10_000, 300_000):
            expected = expected_findings(scale * strengths, dict.fromkeys(METHODS, rows))
            yield f"| {words} | {rows:,} | " + " | ".join(f"{expected[name]:.0f}" for name in METHODS) + " |"
    _draw_growth(counts, measured, strengths, n_train)


def _findings_of_first(n: int, store: Path) -> dict[str, int]:
    """By Benjamini–Yekutieli, of the first n models alone."""
    folder = store / "first" / str(n)
    if not (folder / "margins.npy").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        data = made(configuration(WAYS["held-out"]), store, "download")
        n_train = data.summary["n_train"]
        bits = np.load(data.folder / "masks.npy", mmap_mode="r")[:n]
        np.save(folder / "masks.npy", np.unpackbits(bits, axis=1, count=n_train).astype(np.bool_))
        np.save(folder / "margins.npy", np.load(data.folder / "margins.npy", mmap_mode="r")[:n])
        Labels.load(data.folder / "labels.npz").save(folder / "labels.npz")
    files = ("source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}", "source.set=")
    config = configuration(WAYS["held-out"], *files)
    columns = tests_of(made(config, store, "test"))
    return {name: Family(columns["pvalue"][columns["method"] == name], config.test).n_found for name in METHODS}


def law_of_effects(config: Config, store: Path) -> tuple[Floats, float]:
    """(|Δ|/σ of as many pairs as were tested, drawn from the law that fits their z-scores; σ, a typical residual).

    σ = SE·√n_informative/2 is the residual's standard deviation: the two halves of the informative models.
    """
    columns = tests_of(made(config, store, "test"))
    own = columns["method"] == "contrast"
    effect, error, n = (columns[name][own].astype(float) for name in ("effect", "effect_se", "n_informative"))
    sigma = error * np.sqrt(n) / 2.0
    z = effect / error
    mixture = ScaleMixture.fit(z, np.ones(len(z), np.int64))
    posterior = mixture.posterior(z)
    rng = np.random.default_rng(0)
    kind = (posterior.cumsum(axis=1) < rng.random((len(z), 1))).sum(axis=1).clip(max=len(mixture.scale) - 1)
    shrunk = mixture.scale[kind] ** 2 / (1.0 + mixture.scale[kind] ** 2)
    drawn = shrunk * z + np.sqrt(shrunk) * rng.standard_normal(len(z))
    return np.abs(drawn) * 2.0 / np.sqrt(n), float(np.median(sigma))


def expected_findings(strengths: Floats, rows: dict[str, int]) -> dict[str, float]:
    """By Benjamini–Yekutieli at 0.2: the largest R with Σ power at 0.2·R/(m·H_m) ≥ R, θ̂ as good as the truth."""
    m = len(strengths)
    harmonic = float(np.sum(1.0 / np.arange(1, m + 1)))
    grid = np.linspace(0.0, max(strengths.max(), 1e-3), 40)
    answer = {}
    for method, n in rows.items():
        answer[method] = 0.0
        for count in sorted({int(c) for c in np.geomspace(1, m, 40)}, reverse=True):
            level = ALPHA * count / (m * harmonic)
            power = np.interp(strengths, grid, [float(_power(method, n, c, level)) for c in grid])
            if power.sum() >= count:
                answer[method] = float(power.sum())
                break
    return answer


def _power(method: str, n: int, c: float, level: float) -> Any:
    from scipy.special import ndtr, ndtri

    if c <= 0:
        return level
    if method in ("swap", "swap-exact"):
        return swap_power(
            unpaired_win_probability(c, 0.5), n, level, pvalue="hoeffding" if method == "swap" else "exact"
        )
    if method == "paired":
        return paired_power(ndtr(-c / 2.0), n, level, informative=0.5)
    informative = n / 2.0  # Noether, as `plan` has it.
    return ndtr(np.sqrt(3.0 * informative) * (ndtr(c / np.sqrt(2.0)) - 0.5) + ndtri(level / 2.0))


def _draw_growth(counts: Sequence[int], measured: dict[int, dict[str, int]], strengths: Floats, n_train: int) -> None:
    from matplotlib import rc_context
    from matplotlib.ticker import NullLocator

    sys.path.insert(0, str(FIGURES))
    from style import BLUE, GREEN, MUTED, ORANGE, SETTINGS, panels, save

    many = np.geomspace(counts[0], 100_000, 10).astype(int).tolist()
    expected = {n: expected_findings(strengths, rows_by_method("held-out", n, n_train)) for n in many}
    with rc_context(SETTINGS):
        figure, (axes,) = panels(1, 4.0)
        for name, colour in zip(METHODS, (MUTED, GREEN, BLUE, ORANGE), strict=True):
            axes.plot(many, [expected[n][name] for n in many], color=colour, linewidth=1, linestyle="--")
            found = [measured[n][name] for n in counts]
            said = f"{name}: {found[-1]:,} findings by {counts[-1]:,} models"
            axes.plot(counts, found, color=colour, marker="o", markersize=5, linewidth=1.8, label=said)
        axes.set(xscale="log", xlim=(counts[0] * 0.9, 1.1e5), xticks=(2000, 5000, 10_000, 20_000, 50_000, 100_000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlabel="models in all", ylabel="findings among 2,000 pairs")
        axes.set_title("Findings by the first models (dots), and expected of a perfect fit (dashed)")
        axes.legend(loc="upper left")
        save(figure, FIGURES / "cifar10-study-growth.svg")


PARTS: dict[str, Callable[[Path], Iterator[str]]] = {
    "sizing": sizing,
    "accuracy": accuracy,
    "quality": quality,
    "findings": findings,
    "nearness": nearness,
    "growth": growth,
}


def main() -> None:
    """Print the parts, each under its name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = parser.parse_args()
    for name in chosen.parts:
        print(f"\n## {name}\n")
        for line in PARTS[name](chosen.store):
            print(line, flush=True)


if __name__ == "__main__":
    main()
