"""The rehearsal of `run --config cifar10`, small: a real server, the real command on a terminal, and the truth."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from released_law import Law, Sizes
from true_size import KEYS, SMALL, against_truth, covered, problems_of_results, problems_of_speed

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "true_size.py"
LONGEST_SILENCE = 120.0
"""Beside other tests, and with everything to be compiled; the goal, 5 s, is for idle cores."""


@pytest.fixture(scope="module", params=("load", "lasso"))
def rehearsed(request, tmp_path_factory):
    """(whether weights are loaded, the figures of the run)."""
    folder = tmp_path_factory.mktemp("true-size")
    options = ["--small", "--only", "terminal", "--json", folder / "figures.json", "--folder", folder]
    more = ["--lasso", "--atlas"] if request.param == "lasso" else []
    done = subprocess.run([sys.executable, BENCHMARK, *options, *more], capture_output=True, text=True, timeout=500)
    assert "on a pseudo-terminal" in done.stdout, done.stderr
    assert [file.name for file in folder.iterdir()] == ["figures.json"]
    return request.param == "load", json.loads((folder / "figures.json").read_text())["runs"]["terminal"]


def test_what_is_fetched_is_what_is_needed(rehearsed):
    loads, run = rehearsed
    rows = SMALL.held_out if loads else SMALL.models
    assert [run["fetched"][key] for key in KEYS[:2]] == [rows * SMALL.images, rows * 2 * SMALL.targets]
    assert run["fetched"] == run["needed"]
    assert (run["fetched"][KEYS[2]] > 4 * SMALL.images * SMALL.targets) == loads


def test_findings_are_the_planted_ones(rehearsed):
    _, run = rehearsed
    assert problems_of_results(run) == []
    assert all(figures["pairs"] == 2000 for figures in run["found"].values())
    assert run["found"]["contrast"]["findings"] >= 10


def test_it_is_not_silent_and_says_what_it_does(rehearsed):
    loads, run = rehearsed
    assert run["silences"][0][0] < LONGEST_SILENCE
    more = [] if loads else ["evidence", "prior", "atlas", "influence"]
    assert list(run["stages"]) == ["download", "fit", "test", *more, "report"]
    some = "1,000 of " if loads else ""
    assert any(f"{some}12,000 models × 504 images, 50 targets; " in line for line in run["lines"])
    assert 0 < run["transfer"] < run["seconds"]
    assert 0.1 < run["own_gb"] < 3


def good_run():
    figures = {
        "pairs": 2000,
        "nulls": 1800,
        "targets": 900,
        "findings": 9,
        "fdp": 0.1,
        "null_below_005": 0.05,
        "coverage": 0.95,
    }
    return {
        "fetched": {"a": 1}, "needed": {"a": 1}, "beside_rows": 259, "found": {"contrast": figures}, "seconds": 70.0,
        "transfer": 15.0, "terminal": True, "own_gb": 2.0, "silences": [(4.0, "")],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    (
        ({"fetched": {"a": 2}}, "fetched"),
        ({"beside_rows": 5000}, "headers"),
        ({"fdp": 0.5}, "false discoveries 0.50"),
        ({"null_below_005": 0.08}, "p < 0.05 for 0.080"),
        ({"coverage": 0.9}, "cover 0.900"),
        ({"findings": 0}, "finds nothing"),
        ({"seconds": 80.0}, "65 s beyond the transfer"),
        ({"own_gb": 3.5}, "3.5 GB"),
        ({"silences": [(6.0, "")]}, "silent for 6 s (goal 5)"),
        ({"silences": [(45.0, "")], "terminal": False}, "silent for 45 s (goal 40)"),
    ),
)
def test_a_missed_goal_is_named(change, problem):
    run = good_run()
    assert problems_of_results(run) + problems_of_speed(run, lasso=False) == []
    for name, value in change.items():
        (run if name in run else run["found"]["contrast"])[name] = value
    (found,) = problems_of_results(run) + problems_of_speed(run, lasso=False)
    assert problem in found


def test_a_false_finding_is_seen(tmp_path):
    law = Law(Sizes(models=300, held_out=100, images=64, targets=24, groups=8))
    null = np.flatnonzero(law.strength == 0)[:2]
    header = "method,i,j,target,pvalue,finding,effect_low,effect_high,theta_i,theta_j"
    rows = [f"{m},{null[0]},{null[1]},3,0.001,true,0.1,0.2,1,0" for m in ("swap", "swap-exact", "paired", "contrast")]
    (tmp_path / "tests.csv").write_text("\n".join([header, *rows]))
    found = against_truth(tmp_path / "tests.csv", law)["paired"]
    assert found == {
        "pairs": 1, "true": 0, "findings": 1, "fdp": 1.0, "nulls": 1, "targets": 1, "null_below_005": 1.0,
        "coverage": 0.0,
    }  # fmt: skip


def test_seconds_that_overlap_are_counted_once():
    assert covered([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0), (5.2, 5.4)]) == 4.0
