"""Prior: weights by a plain way, which no held-out margin can reach; untested pairs, groups, and no fit rows."""

from dataclasses import replace

import numpy as np
import pytest
from masks_of_people import FIT_ROWS as PEOPLE_FIT
from masks_of_people import HELD_OUT, make, pairs_of
from small_atlas import FIT_ROWS, ROWS
from small_atlas import pipeline as loading
from small_prior import (
    EVERY_MODEL,
    TOP,
    content_of,
    datamodel,
    evidence,
    pipeline,
    rows_of,
    weights_of,
    with_other_margins,
)

from datamodels_inf.influence import MaskLaw
from datamodels_inf.masks import PackedMasks
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.prediction import CountedFamily, ImageEvidence, PairEvidence, predict
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages import STAGES
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.prior.evidence import Evidence
from pipeline.stages.prior.files import read_prior
from pipeline.stages.prior.stage import PairCells
from pipeline.stages.test.designs import draw_design

GROUPS = (
    "i,j,target\n"
    + "".join(f"{k} {k + 1},{k + 2} {k + 3},{t}\n" for t in (3, 8) for k in range(0, 20, 2))
    + ("".join(f"{k},{k + 5},{t}\n" for t in (3, 8) for k in range(12)))
)


def plain(source, store, design, method, n_test, alpha=0.2, first="datamodel.npz", later=False):
    """What is expected of the pairs of a design, one by one. later: θ̂ will be another one on the tested rows."""
    models = datamodel(store, first)
    law = MaskLaw.of(PackedMasks.from_bool(np.load(source / "data" / "train_masks_50pct.npy")[:FIT_ROWS]))
    cells, members = [], []
    for row in design:
        theta, bias = models[row["target"]]
        estimate, error = (
            v.astype(np.float32).astype(float)[None] for v in evidence(source, theta, bias, row["target"])
        )
        images = ImageEvidence(estimate, error, theta[None], FIT_ROWS, law)
        pair = PairEvidence.of(images, 0, np.array([[row["members_i"], row["members_j"]]]), n_test)
        if later and not pair.theta.any():
            pair = PairEvidence(**{**vars(pair), "theta": pair.difference})
        cells.append(METHODS[method].sensitivity.cells(pair)[0])
        members += [(row["target"], image) for image in (*row["members_i"], *row["members_j"])]
    sharing = len(members) / len(set(members))
    found = predict(
        CountedFamily.of(np.array(cells)), alpha=alpha, law=METHODS[method].sensitivity.law, sharing=sharing
    )
    return found, found.weights(np.array(cells))


def rows_to_come(made, *, every_model):
    """What the tested rows are worth, as the evidence says."""
    evidence = Evidence.of(made.run("evidence"))
    return round(evidence.rows_to_come(Data.of(made.run("download"), made.config), every_model=every_model))


def assert_close(found, expected):
    """Rounding may put a test into the next cell."""
    np.testing.assert_allclose(found, expected, rtol=0.02)
    assert np.mean(np.abs(found - expected) < 1e-9) > 0.8


@pytest.mark.parametrize("method", ("contrast", "paired"))
@pytest.mark.parametrize("first", ((), EVERY_MODEL), ids=("held-out", "every model"))
def test_weights_and_shape_are_those_of_a_plain_way(source, tmp_path, method, first):
    made = pipeline(source, tmp_path, *first)
    result, design = made.run("prior"), rows_of(made.run("test"), "design.parquet")
    of_first = {"first": "datamodel-0.npz", "later": True} if first else {}
    n_test = rows_to_come(made, every_model=True)
    assert (n_test == ROWS - FIT_ROWS) == (not first)
    expected, weight = plain(source, tmp_path, design, method, n_test, **of_first)
    assert_close(weights_of(result, method), weight)
    assert weight.max() > 1.2
    assert weights_of(result, method).mean() == pytest.approx(1.0)
    figures = result.summary["methods"][method]
    assert figures["expected"] == pytest.approx(expected.expected, abs=1)
    assert figures["n_tests"] == len(design) == read_prior(result, method).shape.m


def test_where_every_model_tests_each_method_has_its_own_rows_and_images_that_a_later_fit_tells_apart(source, tmp_path):
    """The swap test has the last block alone; the paired test, all rows, and no pair stays unseen."""
    made = pipeline(source, tmp_path, *EVERY_MODEL)
    made.run("evidence")
    found = made.finished(("download", "fit", "evidence"), "")
    data, fitted = Data.of(found["download"], made.config), Fitted.of(found["fit"])
    pairs, _ = draw_design(made.config, data, fitted)
    seen = PairCells(data, fitted, Evidence.of(found["evidence"]), pairs, np.ones(len(pairs), np.bool_))
    blind = []
    last, every = (rows_to_come(made, every_model=every_model) for every_model in (False, True))
    assert last < ROWS - FIT_ROWS < every
    for _, chunk in seen.chunks():
        known = replace(chunk, n_test=every)
        for method, rows in (("swap-exact", replace(chunk, n_test=last)), ("contrast", known)):
            np.testing.assert_array_equal(seen.cells(known, method), METHODS[method].sensitivity.cells(rows))
        later = replace(known, theta=np.where(known.theta == 0.0, known.difference, known.theta))
        np.testing.assert_array_equal(seen.cells(known, "paired"), METHODS["paired"].sensitivity.cells(later))
        blind += (known.theta == 0.0).all(axis=1).tolist()
    assert 0 < sum(blind) < len(pairs) == len(blind)


@pytest.mark.parametrize("design", ((), TOP), ids=("paper", "top"))
@pytest.mark.parametrize("first", ((), EVERY_MODEL), ids=("held-out", "every model"))
def test_held_out_margins_cannot_reach_the_weights(source, tmp_path, first, design):
    """All of them changed, with all that later blocks are fitted on: not a bit of pairs, weights or shapes."""
    run = pipeline(source, tmp_path / "a", *first, *design)
    other = with_other_margins(source, tmp_path / "other", slice(FIT_ROWS, None))
    again = pipeline(other, tmp_path / "b", *first, *design)
    before, after = content_of(run.run("prior")), content_of(again.run("prior"))
    assert sorted(before) == ["contrast.npz", "paired.npz"]
    assert before == after
    assert run.run("prior").summary == again.run("prior").summary
    assert rows_of(run.run("test"), "design.parquet") == rows_of(again.run("test"), "design.parquet")
    tested = [[row["pvalue"] for row in rows_of(one.run("test"))] for one in (run, again)]
    assert tested[0] != tested[1]  # They were changed indeed.


@pytest.mark.parametrize("first", ((), EVERY_MODEL), ids=("held-out", "every model"))
def test_fit_margins_make_the_weights(source, tmp_path, first):
    before = pipeline(source, tmp_path / "a", *first).run("prior")
    other = with_other_margins(source, tmp_path / "other", slice(FIT_ROWS - 20, FIT_ROWS))
    after = pipeline(other, tmp_path / "b", *first).run("prior")
    assert (weights_of(before, "contrast") != weights_of(after, "contrast")).mean() > 0.5


def test_groups_of_several_sizes(source, tmp_path):
    (tmp_path / "pairs.csv").write_text(GROUPS)
    listed = ("test.repeats=20", "test.design=list", f"test.file={tmp_path / 'pairs.csv'}")
    made = pipeline(source, tmp_path / "store", *listed)
    result, design = made.run("prior"), rows_of(made.run("test"), "design.parquet")
    assert {len(row["members_i"]) for row in design} == {1, 2}
    for method in ("contrast", "paired"):
        _, weight = plain(source, tmp_path / "store", design, method, ROWS - FIT_ROWS)
        assert_close(weights_of(result, method), weight)


def test_pairs_that_are_not_tested_have_no_weight_and_the_others_share_theirs(tmp_path):
    folder = tmp_path / "masks"
    make(folder, "stratified")
    config = load_config("digits", [
        "source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}",
        f"source.fit_rows={PEOPLE_FIT}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all", "fit.n_lambdas=5",
        "test.method=contrast", "test.correction=prior", *pairs_of(folder, "both"),
    ])  # fmt: skip
    made = Pipeline(config, tmp_path / "store", tmp_path, quiet=True)
    weight, pvalue = weights_of(made.run("prior"), "contrast"), [row["pvalue"] for row in rows_of(made.run("test"))]
    untested = np.isnan(pvalue)
    assert 0 < untested.sum() < len(weight)
    assert (weight[untested] == 0.0).all()
    assert weight[~untested].mean() == pytest.approx(1.0)
    assert read_prior(made.run("prior"), "contrast").shape.m == (~untested).sum()
    assert made.run("report").summary["n_tests"] == len(weight)


def test_without_fit_rows_it_says_so_and_finds_what_benjamini_yekutieli_finds(source, tmp_path):
    lines = []
    common = ("test.method=contrast", "atlas.targets=[3, 8]")
    made = loading(source, tmp_path, "test.correction=prior", *common, lines=lines)
    found = made.run("report").summary["n_findings"]
    said = "there are no rows that the datamodels were fitted on: all weights are 1, and the correction is"
    assert any(said in line for line in lines)
    assert not any(line.startswith("evidence") for line in lines)
    result = made.run("prior")
    assert (weights_of(result, "contrast") == 1.0).all()
    assert read_prior(result, "contrast").shape.by_share == 1.0
    assert "no rows" in result.summary["methods"]["contrast"]["reason"]
    assert made.run("influence").summary["n_unpredicted"] == 2
    plain = loading(source, tmp_path, *common)
    assert plain.run("report").summary["n_findings"] == found
    assert plain.run("influence").summary["n_found"] == made.run("influence").summary["n_found"] > 0


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_where_it_is_wanted(correction):
    fitted, loaded = (
        load_config("digits", [f"test.correction={correction}", *more])
        for more in ((), ("fit.mode=load", "fit.file=scores.npy"))
    )
    assert STAGES["evidence"].wanted(fitted)
    assert STAGES["prior"].wanted(fitted)
    assert not STAGES["evidence"].wanted(loaded)
    assert STAGES["prior"].wanted(loaded) == (correction == "prior")


@pytest.mark.parametrize(("changed", "again"), [
    ("test.correction=by", False),
    ("atlas.targets=needed", False),
    ("atlas.family=all", False),
    ("robustness.top=1", False),
    ("test.chunk_pairs=7", False),
    ("test.alpha=0.1", True),
    ("test.seed=5", True),
    ('test.method=["contrast"]', True),
])  # fmt: skip
def test_what_makes_the_weights_anew(source, store, prior, changed, again):
    key = dict(pipeline(source, store, changed).specs())["prior"].key
    assert (key != prior.manifest["key"]) == again


def test_few_tests_have_no_prediction(source, tmp_path):
    few = ("test.design=grid", "test.images=[1, 2, 3]", "test.targets=[4]", "test.repeats=20")
    result = pipeline(source, tmp_path, *few).run("prior")
    assert "fewer than 20" in result.summary["methods"]["contrast"]["reason"]
    prior = read_prior(result, "contrast")
    assert prior.weight.tolist() == [1.0] * 3
    assert prior.shape.by_share == 1.0
