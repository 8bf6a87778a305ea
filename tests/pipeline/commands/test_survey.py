"""The table of what a set of models is."""

import numpy as np
import pytest
from own_folders import N_MODELS, law, write

from pipeline.commands.survey import Looked, Scan, doubts, survey_lines
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.sources import SOURCES

MASKS, OUTCOMES = law()


def looked(folder, *settings):
    common = ["source.kind=files", f"source.folder={folder}", "source.fit_rows=", "source.held_out_rows=",
              "test.design=", "test.repeats=", "test.target_class="]  # fmt: skip
    config = load_config("digits", [*common, *settings])
    return Looked.at(config, SOURCES["files"].open(config.source))


def table(folder, *settings):
    lines = list(survey_lines(looked(folder, *settings)))
    return {line[:20].strip(): line[20:] for line in lines if not line.startswith("- ")}, lines


def test_a_plain_set(tmp_path):
    cells, lines = table(write(tmp_path / "x", OUTCOMES, {"outcome": "loss"}, masks=MASKS))
    assert cells["models"] == "600" and cells["targets"] == "5"
    assert cells["training images"] == "40, no classes, no pictures"
    assert cells["mask law"] == "fixed-size: 20 of 40 images in every mask; exchangeable"
    assert cells["γ, share in a mask"] == "0.5"
    assert (cells["unfinished"], cells["duplicate masks"], cells["NaN or infinite"]) == ("none", "none", "none")
    assert cells["loss"] == f"{OUTCOMES.min():.4g} to {OUTCOMES.max():.4g}, mean {OUTCOMES.mean():.4g}; lower is better"
    assert cells["rows"] == "300 for the fit, 300 for the test"
    assert '- higher_is_better false: by the name "loss"' in lines


def test_a_set_with_all_there_is_to_say(tmp_path):
    masks, _ = law("coins")
    outcomes = OUTCOMES.copy()
    outcomes[3], outcomes[9, 1], outcomes[8, 0] = np.nan, np.nan, np.inf
    masks[20] = masks[500]  # Of the fit, and of the test.
    labels = {"train_labels": ["a", "b"] * 20, "target_labels": ["a"] * 5}
    cells, lines = table(write(tmp_path / "x", outcomes, labels, masks=masks))
    assert cells["unfinished"] == "1 of these, left out: 599 are used" and cells["NaN or infinite"] == "2 of the models"
    assert cells["duplicate masks"] == "1 of a mask in an earlier row"
    assert cells["mask law"].startswith("bernoulli: ") and cells["mask law"].endswith("not exchangeable")
    assert cells["training images"] == "40, 2 classes, no pictures"
    assert any("1 model has no outcome" in line for line in lines)
    good = np.delete(outcomes, 3, axis=0)
    assert cells["outcome"].startswith(f"{good[np.isfinite(good)].min():.4g} to")


def test_a_scan_sees_all_rows_in_parts(tmp_path, monkeypatch):
    opened = looked(write(tmp_path / "x", OUTCOMES, masks=MASKS)).opened
    whole = Scan.of(opened)
    monkeypatch.setattr("pipeline.commands.survey.CHUNK_ROWS", 7)
    parts = Scan.of(opened)
    assert parts.mean == pytest.approx(whole.mean) and parts.n_different == whole.n_different == N_MODELS
    assert (parts.low, parts.high, parts.proportion) == (whole.low, whole.high, 0.5)


@pytest.mark.parametrize("what", ("empty", "nan"))
def test_rows_that_no_run_would_read(tmp_path, what):
    masks, outcomes = MASKS.copy(), OUTCOMES.copy()
    if what == "empty":
        masks[7] = False
    else:
        outcomes[7, 2] = np.nan
    sentence = "without any image, in row 7" if what == "empty" else r"NaN or infinity in row 7 \(row 7: column 2\)"
    with pytest.raises(BadInputError, match=sentence):
        looked(write(tmp_path / "x", outcomes, masks=masks)).refuse_bad_rows()


def test_seeds_make_equal_masks_one_row(tmp_path):
    twice = np.repeat(MASKS[:300], 2, axis=0)
    found = looked(write(tmp_path / "x", OUTCOMES, {"seeds": [0, 1] * 300}, masks=twice))
    assert (found.n_fit, found.n_held_out, found.n_repeated) == (150, 150, 300) and found.premise.ok


def test_what_leaves_little_to_find_is_warned_of_in_a_line_each(tmp_path):
    assert list(doubts(looked(write(tmp_path / "good", OUTCOMES, masks=MASKS)))) == []
    outcomes = OUTCOMES[:40].copy()
    outcomes[:, 2] = 1.5
    names = {"train_names": ["same"] * 3 + [f"x{k}" for k in range(37)], "target_names": list("abcde")}
    said = list(doubts(looked(write(tmp_path / "few", outcomes, names, masks=MASKS[:40]))))
    assert [line.split(":")[0] for line in said] == [
        "the outcome of target 2 is the same for all models",
        "only 20 models test",
        "3 training images share their names with others, such as 'same'",
    ]
    flat = looked(write(tmp_path / "flat", np.ones((600, 5)), {"outcome": "loss"}, masks=MASKS))
    assert list(doubts(flat)) == ["the loss of every target is the same for all models: nothing can be found there"]
