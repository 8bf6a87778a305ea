"""Parts of targets: their size, threads and kills change no result."""

import json

import numpy as np
import pytest
from small_refereed import FIT_ROWS, ROWS, TARGETS, pipeline, write_source

from pipeline.stages.inputs import Fitted
from pipeline.stages.referee import target_parts
from pipeline.stages.referee.stage import PAIRS
from pipeline.stages.referee.target_parts import joined_pairs
from pipeline.store.tables import read_columns


def result(made):
    found = made.run("referee")
    return json.loads((found.folder / "manifest.json").read_text())["summary"], read_columns(found.folder / PAIRS)


def close(first, second):
    """Figures are rounded in the manifest; sums over parts may differ in the last digit."""
    for one, other in zip(first["methods"], second["methods"], strict=True):
        assert one["verdicts"] == other["verdicts"]
        assert one["lds"] == pytest.approx(other["lds"], abs=2e-6)
        assert one["r2"] == pytest.approx(other["r2"], abs=2e-6)


def test_smaller_parts_and_threads_change_nothing(source, store, tmp_path, monkeypatch):
    whole, pairs = result(pipeline(source, store))
    monkeypatch.setattr(target_parts, "PART_BYTES", 1)
    again, same = result(pipeline(source, tmp_path, threads=2))
    close(whole, again)
    for name, column in pairs.items():
        np.testing.assert_array_equal(same[name], column)


def test_a_killed_run_goes_on_with_what_it_had(source, store, tmp_path, monkeypatch):
    monkeypatch.setattr(target_parts, "PART_BYTES", 1)
    asked = []
    claims_on = target_parts.claims_on

    def stopping(scores, **options):
        if len(asked) == 4:
            raise KeyboardInterrupt
        asked.append(options["target"])
        return claims_on(scores, **options)

    monkeypatch.setattr(target_parts, "claims_on", stopping)
    with pytest.raises(KeyboardInterrupt):
        pipeline(source, tmp_path).run("referee")
    assert len(list(tmp_path.rglob("targets-*.npz"))) == 4
    rest = []
    monkeypatch.setattr(target_parts, "claims_on", lambda s, **o: rest.append(o["target"]) or claims_on(s, **o))
    again, _ = result(pipeline(source, tmp_path))
    assert rest == list(range(4, TARGETS))
    close(result(pipeline(source, store))[0], again)
    assert not list(tmp_path.rglob("targets-*.npz"))


def test_lds_is_of_fewer_targets_where_it_would_take_too_long(source, tmp_path, monkeypatch):
    monkeypatch.setattr(target_parts, "MOST_RANKED", 3 * 500 * 400)
    summary, _ = result(pipeline(source, tmp_path))
    assert summary["n_predicted"] == 3
    assert summary["n_targets"] == TARGETS


def test_no_pair_at_all_is_a_table_of_nothing():
    found = joined_pairs([{"silent": np.array([15, 15])}], 2)
    assert found["claim"].shape == (0, 2)
    assert found["pairs"].shape == (0, 2)
    assert found["pvalue"].shape == (0,)


def test_the_own_datamodel_is_compared_on_its_own_scale(source, store):
    """On the rows that it was fitted on, least squares would scale it up; its R² is that of its own predictions."""
    made = pipeline(source, store)
    summary, _ = result(made)
    fitted = Fitted.of(made.run("fit")).datamodel
    masks = np.load(source / "data" / "train_masks_50pct.npy")[FIT_ROWS:ROWS]
    margins = np.load(source / "data" / "test_margins_50pct.npy")[FIT_ROWS:ROWS].astype(float)
    errors = margins - masks @ fitted.weight.astype(float) - fitted.bias
    r2 = 1 - (errors**2).sum(axis=0) / ((margins - margins.mean(axis=0)) ** 2).sum(axis=0)
    (own,) = (one for one in summary["methods"] if one["name"] == "lasso")
    assert own["r2"]["value"] == pytest.approx(r2.mean(), abs=2e-6)


def test_a_useless_datamodel_of_ones_own_is_not_made_worse(source, tmp_path):
    """Of noise, a fit with a short path has hardly any weights: its R² is near 0, as the fit stage says."""
    write_source(tmp_path / "cifar")
    file = tmp_path / "cifar" / "data" / "test_margins_50pct.npy"
    np.save(file, np.random.default_rng(5).standard_normal((ROWS, TARGETS)).astype(np.float16))
    made = pipeline(tmp_path / "cifar", tmp_path / "store", methods=("noise.npy", "lasso"))
    summary, _ = result(made)
    quality = json.loads((made.run("fit").folder / "manifest.json").read_text())["summary"]["quality"]
    (own,) = (one for one in summary["methods"] if one["name"] == "lasso")
    assert own["r2"]["value"] == pytest.approx(np.mean(quality["r2"]), abs=1e-5)
    assert own["r2"]["value"] > -0.1


def test_scores_that_are_equal_but_for_rounding_predict_nothing(tmp_path):
    """Of masks of one size they predict one number: what is left of it in the last bits has no rank correlation."""
    folder, rng = write_source(tmp_path / "cifar"), np.random.default_rng(6)
    masks = rng.random((ROWS, 24)).argsort(axis=1) < 12
    margins = masks @ np.load(folder / "good.npy") + 0.5 * rng.standard_normal((ROWS, TARGETS))
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    equal = 0.1 * (1 + rng.integers(0, 3, (24, TARGETS)) * 2.0**-52)
    assert len(np.unique(masks @ equal)) > 1
    np.save(folder / "equal.npy", equal)
    summary, _ = result(pipeline(folder, tmp_path / "store", methods=("equal.npy", "good.npy")))
    equal, good = summary["methods"]
    assert equal["lds"]["value"] == equal["lds"]["low"] == equal["lds"]["high"] == 0.0
    assert good["lds"]["value"] > 0.5
