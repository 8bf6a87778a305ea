"""An analysis in memory and a run of the pipeline on the same rows, pairs and seed: the same numbers, the same page."""

import json

import numpy as np
import pandas as pd
import pytest
from command_here import ok
from entry_points_here import declare
from places import ROOT
from pyarrow import parquet
from report_content import Page, check_self_contained
from simulated_models import simulated

from datamodels_inf import PackedMasks, analyse
from pipeline.in_memory import content_of, write

DIGITS = ROOT / "pipeline" / "embedded" / "digits"
SHARED = (
    "--set",
    "fit.n_lambdas=10",
    "--set",
    "test.design=top",
    "--set",
    "test.k=3",
    "--set",
    "test.targets=[0,3,13]",
    "--set",
    "report.max_panels=2",
)
KINDS = {
    "held-out": (
        ("--set", 'test.method=["swap", "paired", "contrast"]', "--set", "test.seed=4"),
        {"method": ["swap", "paired", "contrast"], "seed": 4, "fit_rows": 8000, "held_out_rows": 4000},
    ),
    "by the rule": (
        ("--set", "source.fit_rows=", "--set", "source.held_out_rows=", "--set", "test.correction=holm"),
        {"correction": "holm"},
    ),
    "progressive": (
        ("--set", "test.rows=progressive", "--set", "source.fit_rows=", "--set", "source.held_out_rows=", "--set",
         "test.blocks=2", "--set", 'test.method=["swap", "contrast"]'),
        {"rows": "progressive", "blocks": 2, "method": ["swap", "contrast"]},
    ),
    "scores": (
        ("--set", "fit.mode=load", "--set", "fit.file=scores.npy", "--set", "fit.calibrate=true", "--set",
         "test.method=contrast"),
        {"calibrate": True, "method": "contrast", "fit_rows": 8000, "held_out_rows": 4000},
    ),
}  # fmt: skip


def digits():
    """(masks, margins, images and labels)."""
    masks = PackedMasks(np.load(DIGITS / "masks.npy"), 400)
    with np.load(DIGITS / "images.npz") as images:
        return masks, np.load(DIGITS / "margins.npy"), dict(images)


def both(folder, kind):
    """(the folder of a run, the same analysis in memory)."""
    masks, margins, images = digits()
    arguments, options = KINDS[kind]
    if kind == "scores":
        scores = np.random.default_rng(0).standard_normal((400, 120)).astype(np.float32)
        scores[:, 3] = masks[:2000].T @ (margins[:2000, 3].astype(np.float64) - margins[:2000, 3].mean())
        np.save(folder / "scores.npy", scores)
        options = {**options, "theta": scores}
    else:
        options = {**options, "lasso": {"n_lambdas": 10}}
    ok(folder, "run", *SHARED, *arguments)
    labels = images["train_labels"], images["target_labels"]
    result = analyse(
        masks, margins, labels=labels, images=(images["train"], images["targets"]), targets=[0, 3, 13], k=3,
        outcome="margin", **options,
    )  # fmt: skip
    return folder, result


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_and_the_files_are_those_of_a_run(kind, tmp_path):
    folder, result = both(tmp_path, kind)
    (path,) = (folder / "data" / "test").glob("*/tests.parquet")
    run = parquet.read_table(path).to_pandas()
    own = result.tests()
    assert len(own) == len(run) > 60
    for name in run.columns:
        if name not in ("members_i", "members_j"):
            pd.testing.assert_series_equal(own[name], run[name], check_dtype=False, check_exact=True)
    page = write(result, tmp_path / "out", max_panels=2)
    (published,) = (folder / "reports").glob("[!.]*")  # Beside the lock of its folder.
    for name in ("tests.csv", "findings.csv", "datamodels.csv"):
        assert (page.parent / name).read_bytes() == (published / name).read_bytes(), name
    told, known = (
        json.loads((place / "report.json").read_text(encoding="utf-8")) for place in (page.parent, published)
    )
    for method in (*told["methods"], *known["methods"]):
        del method["prior"], method["n_findings_by_correction"]["prior"]  # Which only a run makes.
    for name in ("methods", "masks", "coding"):
        assert told[name] == known[name], name
    assert sum(method["n_findings"] for method in told["methods"]) == len(result.findings()) > 0
    mine, theirs = (pd.read_csv(place / "atlas.csv") for place in (page.parent, published))
    pd.testing.assert_frame_equal(mine, theirs, rtol=1e-4)
    assert mine["finding"].any()


@pytest.fixture(scope="module")
def small():
    masks, outcomes = simulated()
    names = [f"column {k}" for k in range(30)], ["first", "second"]
    return analyse(masks, outcomes, names=names, method="contrast", outcome="loss", k=2)


def test_the_page_is_whole_and_speaks_of_the_outcome(small, tmp_path, monkeypatch):
    declare(tmp_path / "declared", monkeypatch)
    page = small.report(tmp_path / "deep" / "out", title="My losses")
    assert page == tmp_path / "deep" / "out" / "index.html"
    shown = Page(page.read_text(encoding="utf-8"))
    check_self_contained(shown)
    assert "My losses" in shown.text and "the loss" in shown.text
    assert "a lower loss is better, by its name" in shown.text
    assert "analyse(masks, outcomes, method=('contrast',)" in shown.text
    untitled = small.report(tmp_path / "untitled").read_text(encoding="utf-8")
    assert "<title>Which training items matter more?</title>" in untitled
    content = content_of(small, "", 0)
    assert content.names.of("train", 3) == "column 3" and content.names.of("target", 1) == "second"
    assert (content.unit, content.higher_is_better) == ("loss", False)


def test_a_report_replaces_only_a_report_and_only_if_asked(small, tmp_path):
    out = tmp_path / "out"
    first = write(small, out, max_panels=2)
    panels = sorted(path.name for path in (out / "panels").iterdir())
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="holds a report already; say overwrite=True"):
        write(small, out)
    assert write(small, out, max_panels=1, overwrite=True) == first
    assert (out / "mine.txt").read_text(encoding="utf-8") == "mine"
    assert len(list((out / "panels").iterdir())) == 1 < len(panels)
    assert not [path for path in out.iterdir() if path.name.startswith(".new")]
    other = tmp_path / "other"
    other.mkdir()
    write(small, other, max_panels=1)
    assert {path.name for path in other.iterdir()} >= {"index.html", "tests.csv"}


def test_a_list_of_files_leads_nowhere_else(small, tmp_path):
    out, dear = tmp_path / "out", tmp_path / "dear.txt"
    write(small, out, max_panels=1)
    dear.write_text("dear", encoding="utf-8")
    with (out / ".files").open("a", encoding="utf-8") as listed:
        listed.write(f"../dear.txt\n{dear}\n\npanels\n")
    write(small, out, max_panels=1, overwrite=True)
    assert dear.read_text(encoding="utf-8") == "dear"


@pytest.mark.parametrize("options", ({"title": 5}, {"max_panels": -1}, {"max_panels": "2"}, {"overwrite": "no"}))
def test_options_of_another_type_are_refused_by_name(small, tmp_path, options):
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` must be"):
        write(small, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("overwrite", (True, False))
def test_other_things_are_never_overwritten(small, tmp_path, overwrite):
    (tmp_path / "thesis.tex").write_text("all of it", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be new or empty, but .* holds other things"):
        write(small, tmp_path, overwrite=overwrite)
    with pytest.raises(ValueError, match="is a file"):
        write(small, tmp_path / "thesis.tex", overwrite=overwrite)


def test_the_page_of_masks_that_failed_their_check_warns(tmp_path):
    masks, outcomes = simulated()
    masks = np.concatenate([masks[:500], masks[:100]])
    result = analyse(masks, outcomes, k=2, allow_unexchangeable=True)
    text = Page(write(result, tmp_path / "out").read_text(encoding="utf-8")).text
    assert "failed the check of their premise" in text


def test_stratified_masks_have_a_page_without_influences(tmp_path):
    rng = np.random.default_rng(0)
    masks = (rng.random((1200, 3, 10)).argsort(axis=2) < 5).reshape(1200, 30)
    y = masks[:, 3] + rng.standard_normal(1200)
    result = analyse(masks, y, labels=np.arange(30) // 10, method="contrast", pairs=[(3, 4, 0), (1, 2, 0)])
    page = write(result, tmp_path / "out")
    assert not (page.parent / "atlas.csv").exists() and (page.parent / "tests.csv").is_file()
