"""Weights of an atlas: the streaming way finds what all p-values over all weights together find, and keeps its file."""

import numpy as np
import pytest
import small_prior
from small_atlas import FIT_ROWS, ROWS, D

from datamodels_inf.multiplicity import selected_confidence
from datamodels_inf.prediction import CountedFamily, predict
from pipeline.stages.atlas.found import Found, evidence_in
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.atlas.weights import AtlasCells

TARGETS = (9, 2, 30, 31, 32, 4, 17, 6)
SOME = f"atlas.targets={list(TARGETS)}"


@pytest.fixture(scope="module")
def run(source, tmp_path_factory):
    """family → (the results of the stages, the datamodels)."""
    store = tmp_path_factory.mktemp("weighted")

    def results(family):
        made = small_prior.pipeline(source, store, SOME, f"atlas.family={family}")
        made.run("influence")
        names = ("download", "fit", "evidence", "atlas", "influence")
        return made.finished(names, ""), small_prior.datamodel(store)

    return {family: results(family) for family in ("target", "all")}


def by_a_plain_way(source, run, family):
    """(p-values, weights, limits of p/w with all in one), of all targets and images."""
    inputs, models = run[family]
    atlas = Atlas.of(inputs["atlas"])
    pvalue = np.stack([atlas.pvalue(place, *atlas.of_target(place)) for place in range(len(TARGETS))])
    cells = np.stack([
        small_prior.cells_of_images(*small_prior.evidence(source, *models[target], target), ROWS - FIT_ROWS)
        for target in TARGETS
    ])  # fmt: skip
    families = [cells.ravel()] if family == "all" else list(cells)
    predictions = [predict(CountedFamily.of(own), alpha=0.2) for own in families]
    weight = np.concatenate([one.weights(own) for one, own in zip(predictions, families, strict=True)])
    return pvalue, weight.reshape(pvalue.shape), predictions


def step_up(scaled, shape):
    """R and which, written out."""
    r = max((r for r in range(len(scaled) + 1) if (scaled <= 0.2 * shape.beta(r) / shape.m).sum() >= r), default=0)
    return r, scaled <= (0.2 * shape.beta(r) / shape.m if r else -1.0)


@pytest.mark.parametrize("family", ("target", "all"))
def test_findings_are_those_of_all_p_values_over_their_weights(source, run, family):
    found = Found.read(run[family][0])
    pvalue, weight, predictions = by_a_plain_way(source, run, family)
    own = np.stack([found.weights.of_target(place) for place in range(len(TARGETS))])
    np.testing.assert_allclose(own, weight, rtol=0.05)  # Rounding may put an image into the next cell.
    assert np.mean(np.abs(own - weight) < 1e-9) > 0.8
    assert own.max() > 1.2
    families = [own.ravel()] if family == "all" else list(own)
    assert [one.mean() for one in families] == pytest.approx([1.0] * len(families))
    scaled = (pvalue / own).reshape(len(predictions), -1)
    decided = [step_up(row, one.shape) for row, one in zip(scaled, predictions, strict=True)]
    expected = np.stack([which for _, which in decided]).reshape(pvalue.shape)
    got = np.stack([found.is_finding(place) for place in range(len(TARGETS))])
    np.testing.assert_array_equal(got, expected)
    assert 0 < got.sum() < got.size
    summary = run[family][0]["influence"].summary
    assert summary["n_found"] == got.sum()
    assert summary["expected"] == pytest.approx(sum(one.expected or 0 for one in predictions), abs=2)
    for image in (0, 7):
        np.testing.assert_array_equal(found.of_image(image), expected[:, image])
    for place in range(len(TARGETS)):
        (r, _), one = decided[0 if family == "all" else place], predictions[0 if family == "all" else place]
        if not r:
            continue
        level = selected_confidence("prior", 0.2, one.shape.m, r, shape=one.shape)
        np.testing.assert_allclose(found.levels(place), np.maximum(0.95, 1 - own[place] * (1 - level)), rtol=1e-9)
        low, high = found.level_range(place)
        assert low <= found.levels(place).min() <= found.levels(place).max() <= high


def test_more_is_found_than_with_every_weight_1(source, run):
    for family in ("target", "all"):
        store = run[family][0]["atlas"].folder.parents[1]
        plain = small_prior.pipeline(source, store, SOME, f"atlas.family={family}", "test.correction=by")
        assert plain.run("influence").summary["n_found"] < run[family][0]["influence"].summary["n_found"]


def test_some_images_have_the_weights_that_they_have_among_all(run):
    found = Found.read(run["target"][0])
    images = np.array([20, 3, 4])
    np.testing.assert_array_equal(found.weights.of_target(5, images), found.weights.of_target(5)[images])
    np.testing.assert_array_equal(found.is_finding(5, images), found.is_finding(5)[images])
    columns = np.stack([found.weights.of_image(image) for image in range(D)], axis=1)
    np.testing.assert_array_equal(columns, [found.weights.of_target(place) for place in range(len(TARGETS))])


def test_cells_without_evidence_are_unknown(run):
    inputs, _ = run["all"]
    atlas = Atlas.of(inputs["atlas"])
    assert evidence_in({}) is None
    unknown = AtlasCells(atlas, None)
    assert set(unknown.of_target(3).tolist()) == set(unknown.of_image(3).tolist()) == {-1}
    known = AtlasCells(atlas, evidence_in(inputs))
    assert (known.of_target(3) >= 0).all()
    assert (len(known.of_target(3)), len(known.of_image(3))) == (D, len(TARGETS))


@pytest.mark.parametrize("rows", ("held-out", "fit"))
def test_only_fit_rows_make_the_weights(source, run, tmp_path, rows):
    changed = slice(FIT_ROWS, None) if rows == "held-out" else slice(FIT_ROWS - 20, FIT_ROWS)
    other = small_prior.with_other_margins(source, tmp_path / "other", changed)
    made = small_prior.pipeline(other, tmp_path / "store", SOME)
    before, after = (
        dict(np.load(one.folder / "findings.npz")) for one in (run["target"][0]["influence"], made.run("influence"))
    )
    names = [name for name in before if name.startswith("prior_")]
    same = [np.array_equal(before[name], after[name]) for name in names]
    assert len(names) == 4
    assert not np.array_equal(before["limit"], after["limit"])
    assert all(same) == (rows == "held-out")


def test_where_every_model_tests_later_rows_are_worth_more(source, tmp_path):
    made = small_prior.pipeline(source, tmp_path, SOME, *small_prior.EVERY_MODEL)
    made.run("influence")
    inputs = made.finished(("download", "fit", "evidence", "atlas", "influence"), "")
    evidence, atlas = evidence_in(inputs), Atlas.of(inputs["atlas"])
    assert evidence.summary.n_to_come > atlas.summary.n_models == ROWS - FIT_ROWS
    cells = small_prior.cells_of_images(*evidence.on(TARGETS[1]), evidence.summary.n_to_come)
    np.testing.assert_array_equal(AtlasCells(atlas, evidence).of_target(1), cells)
    assert Found.read(inputs).weights.of_target(1).shape == (D,)
