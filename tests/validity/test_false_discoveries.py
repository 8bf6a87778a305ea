"""The realised share of false discoveries, through the real stages: every correction, both ways to use rows, designs
that the fit did not choose and that it did.

Targets share masks and, with either sign, most of their noise; most pairs that the fit did not choose are of two images
of the same influence, none. A variant that takes its weights from the tested rows must fail.
"""

import numpy as np
import pytest
from long_runs import times
from pyarrow import parquet

from datamodels_inf.findings import Family
from datamodels_inf.multiplicity import CORRECTIONS, adjust_pvalues
from datamodels_inf.prior import Prior
from datamodels_inf.shape import Shape
from pipeline.config_files import load_config
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline
from pipeline.stages.prior.files import read_prior

CLASSES, SIZE, TARGETS, ROWS, ALPHA = 3, 16, 12, 900, 0.2
IMAGES = CLASSES * SIZE
METHODS = ("paired", "contrast")
DESIGNS = {"paper": ["test.repeats=25"], "top": ["test.targets=all"]}
LIMIT = 3.0
"""Standard errors of a mean share."""


def make(folder, rng, influential):
    """A source folder; returns the true influences, (images, targets)."""
    folder.mkdir(parents=True)
    masks = rng.permuted(np.tile(np.arange(IMAGES) < IMAGES // 2, (ROWS, 1)), axis=1)
    some = rng.random((IMAGES, TARGETS)) < influential
    theta = np.where(some, rng.normal(0.0, 0.7, (IMAGES, TARGETS)), 0.0)
    shared = rng.standard_t(4, size=(ROWS, 1)) * rng.choice([-1.0, 1.0], TARGETS)
    y = masks @ theta + 0.8 * shared + 0.6 * rng.normal(size=(ROWS, TARGETS))
    np.save(folder / "masks.npy", masks)
    np.save(folder / "margins.npy", y.astype(np.float16))
    Labels(np.arange(IMAGES) // SIZE, np.arange(TARGETS) % CLASSES, ("a", "b", "c")).save(folder / "labels.npz")
    return theta


def run_stages(folder, rows, design):
    """The configuration, the table of tests, and the prior of each method."""
    settings = [
        "source.kind=files",
        f"source.folder={folder / 'source'}",
        f"source.labels={folder / 'source' / 'labels.npz'}",
        "source.fit_rows=300",
        "source.held_out_rows=600",
        "test.target_class=a",
        f"test.rows={rows}",
        f"test.design={design}",
        'test.method=["paired", "contrast"]',
        f"test.alpha={ALPHA}",
        *DESIGNS[design],
    ]
    config = load_config("digits", settings)
    pipeline = Pipeline(config, folder / "store", folder / "reports", quiet=True)
    table = parquet.read_table(pipeline.run("test").folder / "tests.parquet")
    prior = pipeline.run("prior")
    return config, table, {method: read_prior(prior, method) for method in METHODS}


def false_shares(folder, seed, influential, rows, design):
    """(method, correction) → the share of false ones among its findings, 0 without any."""
    theta = make(folder / "source", np.random.default_rng(seed), influential)
    config, table, priors = run_stages(folder, rows, design)
    i, j, target = (table[name].to_numpy() for name in ("i", "j", "target"))
    no_difference = theta[i, target] == theta[j, target]
    shares = {}
    for method in METHODS:
        own = np.asarray(table["method"]) == method
        p, null = table["pvalue"].to_numpy()[own], no_difference[own]
        for correction in CORRECTIONS:
            asked = config.test.model_copy(update={"correction": correction})
            prior = priors[method] if CORRECTIONS[correction].needs_prior else None
            shares[method, correction] = false_share(Family(p, asked, prior).found, null)
        shares[method, "weights of the tested rows"] = false_share(by_own_weights(p) <= ALPHA, null)
    return shares


def false_share(found, null):
    return np.count_nonzero(found & null) / max(1, np.count_nonzero(found))


def by_own_weights(p):
    """The weighted correction with weights by the evidence of the very rows that are tested: all to the best test."""
    weight = np.where(np.arange(p.size) == np.argmin(p), float(p.size), 0.0)
    return adjust_pvalues(p, "prior", prior=Prior(weight, Shape.benjamini_yekutieli(p.size)))


@pytest.mark.parametrize("design", sorted(DESIGNS))
@pytest.mark.parametrize("rows", ["held-out", "progressive"])
def test_at_most_the_promised_share_is_false(rows, design, tmp_path):
    repeats = times(5, 50)
    most = ALPHA + LIMIT * np.sqrt(ALPHA * (1.0 - ALPHA) / repeats)
    for influential in (0.25, 0.0):
        places = [tmp_path / f"{influential} {seed}" for seed in range(repeats)]
        runs = [false_shares(place, seed, influential, rows, design) for seed, place in enumerate(places)]
        mean = {name: np.mean([run[name] for run in runs]) for name in runs[0]}
        for method in METHODS:
            assert all(mean[method, correction] <= most for correction in CORRECTIONS), mean
        if not influential:  # Where all weights are 0, the paired test sees nothing.
            assert mean["contrast", "weights of the tested rows"] > most
