"""Through the whole stage: simulated data sets in which it is known which pairs are null.

Margins are linear in the masks with true weights of three levels, plus noise. The masks are exchangeable, so two images
of equal true weight have symmetric influence: swapping them changes nothing in the law of (mask, margin). Each data
set goes as files through the real download, fit and test stages; the false discovery proportion of what they find
must average below α.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from pyarrow import parquet

from datamodels_inf import adjust_pvalues
from pipeline.config_files import load_config
from pipeline.images.image_set import Labels
from pipeline.run import Pipeline

METHODS = ("swap", "swap-exact", "paired", "contrast")
DATA_SETS, LEAKS = 40, 16
ALPHA = 0.2
IMAGES, TARGETS, FIT_ROWS, HELD_OUT = 60, 3, 800, 2000
LEVELS, SHARES = (-0.9, 0.0, 0.9), (0.05, 0.9, 0.05)
DESIGNS = {
    "paper": ("test.repeats=4", "test.target_class=a"),
    "top": ("test.design=top", "test.targets=all", "test.k=8", "test.random_partners=4"),
}


@dataclass(frozen=True)
class Outcome:
    """Of one data set, one design and one way to decide: how many findings, false findings, and true differences."""

    found: int
    false: int
    differences: int

    @property
    def fdp(self):
        return self.false / max(1, self.found)


def simulate(folder, seed):
    """Masks of either law, labels of 6 classes, margins; the true weights."""
    rng = np.random.default_rng([2023, seed])
    draws = rng.random((FIT_ROWS + HELD_OUT, IMAGES))
    masks = draws < 0.5 if seed % 2 else np.argsort(draws, axis=1) < IMAGES // 2
    weight = rng.choice(LEVELS, (IMAGES, TARGETS), p=SHARES)
    margins = masks @ weight + rng.standard_normal((len(masks), TARGETS)) + 1
    folder.mkdir()
    np.save(folder / "train_masks_50pct.npy", masks)
    np.save(folder / "test_margins_50pct.npy", margins.astype(np.float32))
    Labels(np.arange(IMAGES) % 6, np.zeros(TARGETS, np.int64), tuple("abcdef")).save(folder / "labels.npz")
    return masks, margins, weight


def run_stages(folder, design, *settings):
    """The columns of tests.parquet, as the stages made them."""
    common = ["source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}",
              f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all",
              "fit.n_lambdas=20", "fit.lambda_ratio=0.01", f"test.method={list(METHODS)}"]  # fmt: skip
    config = load_config("digits", [*common, *DESIGNS[design], *settings])
    result = Pipeline(config, folder / "store", folder, quiet=True).run("test")
    table = parquet.read_table(result.folder / "tests.parquet")
    names = ("method", "i", "j", "target", "pvalue", "theta_i", "theta_j")
    return {name: table[name].to_numpy() for name in names}


def outcome(decided, null):
    return Outcome(int(decided.sum()), int((decided & null).sum()), int((~null).sum()))


def outcomes(columns, weight, correction):
    """{method: Outcome}, and of the naive answer "θ̂_i and θ̂_j differ"."""
    null = weight[columns["i"], columns["target"]] == weight[columns["j"], columns["target"]]
    differ = columns["theta_i"] != columns["theta_j"]
    found = {}
    for method in dict.fromkeys(columns["method"].tolist()):
        rows = columns["method"] == method
        decided = adjust_pvalues(columns["pvalue"][rows], correction) <= ALPHA
        found |= {method: outcome(decided, null[rows]), "naive": outcome(differ[rows], null[rows])}
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """{(design, correction): [outcomes of each data set]}.

    And two that must fail: "halved", p-values of half their size; "leak", the design top with θ̂ of the tested rows.
    """
    home = tmp_path_factory.mktemp("simulated")
    runs = {}
    for seed in range(DATA_SETS):
        folder = home / str(seed)
        masks, margins, weight = simulate(folder, seed)
        for design in DESIGNS:
            columns = run_stages(folder, design)
            for correction in ("by", "bh"):
                runs.setdefault((design, correction), []).append(outcomes(columns, weight, correction))
            if design == "paper":
                halved = {**columns, "pvalue": columns["pvalue"] / 2}
                runs.setdefault(("halved", "bh"), []).append(outcomes(halved, weight, "bh"))
        if seed >= LEAKS:
            continue
        x = np.column_stack([masks[FIT_ROWS:], np.ones(HELD_OUT)])
        leaked = np.linalg.lstsq(x, margins[FIT_ROWS:], rcond=None)[0]
        np.savez(folder / "leaked.npz", weight=leaked[:-1], bias=leaked[-1])
        load = "fit.mode=load", f"fit.file={folder / 'leaked.npz'}", "test.method=contrast"
        columns = run_stages(folder, "top", *load)
        runs.setdefault(("leak", "bh"), []).append(outcomes(columns, weight, "bh"))
    return runs


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("correction", ("by", "bh"))
@pytest.mark.parametrize("design", DESIGNS)
def test_the_false_discovery_proportion_averages_below_alpha(runs, design, correction, method):
    """With the default correction far below; with Benjamini–Hochberg's, which has no slack, by a hair's breadth."""
    proportion, error = mean_and_error([run[method].fdp for run in runs[design, correction]])
    assert proportion <= ALPHA + (3 * error if correction == "bh" else 0), (proportion, error)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("design", DESIGNS)
def test_true_differences_are_found(runs, design, method):
    """So that control is not that of a test that never speaks; and the paired tests find the most."""
    power = {m: sum(r[m].found - r[m].false for r in runs[design, "by"]) for m in METHODS}
    differences = sum(run[method].differences for run in runs[design, "by"])
    assert power[method] / differences > {"swap": 0.2, "swap-exact": 0.4, "paired": 0.9, "contrast": 0.9}[method]
    assert power["swap"] <= power["swap-exact"] < power["paired"]


@pytest.mark.parametrize("design", DESIGNS)
def test_comparing_fitted_weights_controls_nothing(runs, design):
    """ "θ̂_i and θ̂_j differ, so their influence does": most of these answers are false."""
    proportion, error = mean_and_error([run["naive"].fdp for run in runs[design, "by"]])
    assert proportion - 3 * error > 2 * ALPHA, (proportion, error)


def test_the_check_catches_weights_that_have_seen_the_tested_rows(runs):
    """Helpers chosen on the rows that test them: null pairs are then found far too often."""
    proportion, error = mean_and_error([run["contrast"].fdp for run in runs["leak", "bh"]])
    assert proportion - 3 * error > ALPHA, (proportion, error)


def test_the_simulation_has_both_kinds_of_pairs(runs):
    for design in DESIGNS:
        first = runs[design, "by"][0]["naive"]
        assert first.differences > 20
        assert first.false > 20


def test_half_the_pvalue_would_be_noticed(runs):
    """How sharp the check is: with p-values of half their size, the same data sets fail it."""
    proportion, error = mean_and_error([run["contrast"].fdp for run in runs["halved", "bh"]])
    assert proportion > ALPHA + 3 * error, (proportion, error)
