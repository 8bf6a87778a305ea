"""Weights and scores of other methods: formats, shapes, calibration, and what is refused."""

import json

import numpy as np
import pytest
import torch
from command_here import call, ok
from pyarrow import parquet
from released_layout import FILES, released

CALIBRATE = ("--set", "fit.mode=load", "--set", "fit.calibrate=true")


@pytest.fixture
def folder(tmp_path):
    """A source of 24 images and 8 targets, and the weights that made its margins."""
    np.save(tmp_path / "true.npy", released(tmp_path / "cifar"))
    return tmp_path


def saved(folder, kind, scores):
    path = folder / f"scores{kind}"
    if kind == ".npy":
        np.save(path, scores)
    elif kind == ".npz":
        np.savez(path, influence=scores)
    elif kind == ".pt":
        torch.save(torch.tensor(scores), path)
    else:
        torch.save({"scores": torch.tensor(scores)}, path := folder / "scores.pt")
    return path.name


def fitted(folder):
    (path,) = folder.glob("data/fit/*/datamodel.npz")
    with np.load(path) as arrays:
        return arrays["weight"], arrays["bias"], json.loads((path.parent / "manifest.json").read_text())["summary"]


def test_calibrated_scores_predict_and_the_manifest_says_how(folder):
    """Scores on a foreign scale with the sign turned, as those of an influence on the loss."""
    weight = np.load(folder / "true.npy")
    rng = np.random.default_rng(5)
    scores = -1e4 * (weight + 0.05 * rng.standard_normal(weight.shape))
    name = saved(folder, ".npy", scores)
    ok(folder, "run", *FILES, *CALIBRATE, "--set", f"fit.file={name}", "--set", "fit.targets=all")
    theta, bias, summary = fitted(folder)
    masks = np.load(folder / "cifar" / "data" / "train_masks_50pct.npy")[:200]
    margins = np.load(folder / "cifar" / "data" / "test_margins_50pct.npy")[:200].astype(float)
    calibration = summary["calibration"]
    for t in range(8):
        p = masks @ scores[:, t]
        (a, b), *_ = np.linalg.lstsq(np.column_stack([p, np.ones(200)]), margins[:, t], rcond=None)
        np.testing.assert_allclose(theta[:, t], a * scores[:, t], rtol=1e-5)
        assert bias[t] == pytest.approx(b)
        assert (calibration["scale"][t], calibration["bias"][t]) == pytest.approx((a, b), rel=1e-5)
        assert calibration["r2_after"][t] == pytest.approx(np.corrcoef(p, margins[:, t])[0, 1] ** 2, rel=1e-4)
        assert calibration["r2_before"][t] < -1e6
    assert calibration["targets"] == list(range(8))
    assert summary["n_constant_scores"] == 0
    assert summary["r2_median"] > 0.5  # On held-out rows.


def test_the_same_scores_without_calibration_stop_the_run_and_the_sentence_says_what_to_do(folder):
    name = saved(folder, ".npy", -1e4 * np.load(folder / "true.npy"))
    done = call(folder, "run", *FILES, "--set", "fit.mode=load", "--set", f"fit.file={name}")
    assert done.returncode == 2
    assert "must predict `margins` better than a constant" in done.stderr
    assert done.stderr.endswith("; if these are scores on a scale of their own, set fit.calibrate = true.\n")
    assert done.stderr.count("\n") == 1


def test_the_test_finds_as_much_with_calibrated_scores_as_with_the_weights_themselves(folder):
    """And the p-values of the test do not care about the unit."""
    weight = np.load(folder / "true.npy")
    tables = []
    for number, unit in enumerate((1.0, 1e-6, -250.0)):
        np.save(folder / f"scores{number}.npy", weight * unit)
        ok(folder, "test", *FILES, *CALIBRATE, "--set", f"fit.file=scores{number}.npy", "--store", f"store{number}",
           "--set", "test.method=['paired','contrast']")  # fmt: skip
        (path,) = folder.glob(f"store{number}/test/*/tests.parquet")
        tables.append(parquet.read_table(path))
    for table in tables[1:]:
        np.testing.assert_allclose(table["theta_i"].to_numpy(), tables[0]["theta_i"].to_numpy(), rtol=1e-5)
        np.testing.assert_allclose(table["pvalue"].to_numpy(), tables[0]["pvalue"].to_numpy(), rtol=1e-4)
    assert tables[0]["pvalue"].to_numpy().min() < 1e-6


def test_a_column_that_says_nothing_is_counted_said_and_marked(folder):
    scores = np.load(folder / "true.npy")
    scores[:, 3] = 0.0
    name = saved(folder, ".npz", scores)
    output = ok(folder, "run", *FILES, *CALIBRATE, "--set", f"fit.file={name}")
    assert "1 of 4 columns of scores predict the same for every mask" in output
    theta, _, summary = fitted(folder)
    assert summary["n_constant_scores"] == 1
    assert not theta[:, 1].any()  # Of the targets 1, 3, 5, 7.
    (path,) = folder.glob("data/test/*/tests.parquet")
    rows = parquet.read_table(path).to_pylist()
    assert all(("cannot see" in r["note"]) == (r["target"] == 3) for r in rows)


def test_weights_with_a_bias_need_no_calibration(folder):
    np.savez(folder / "weights.npz", weight=np.load(folder / "true.npy"), bias=np.full(8, 2.0))
    ok(folder, "fit", *FILES, "--set", "fit.mode=load", "--set", "fit.file=weights.npz")
    assert fitted(folder)[2]["coding"] == "mask"


def bad(shape=(24, 8), fill=1.0):
    return np.full(shape, fill)


BAD = {
    "other shape": (bad((24, 7)), "must have shape (24, 8)"),
    "one dimension": (bad((24,)), "must have shape (24, 8)"),
    "NaN": (bad(fill=np.nan), "must be finite"),
    "infinite": (bad(fill=np.inf), "must be finite"),
    "text": (np.full((24, 8), "x"), "holds <U1, not numbers"),
    "complex": (np.ones((24, 8), complex), "holds complex128, not numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("calibrate", (True, False))
def test_bad_scores_are_one_sentence(folder, case, calibrate):
    scores, sentence = BAD[case]
    np.save(folder / "scores.npy", scores)
    settings = CALIBRATE if calibrate else CALIBRATE[:2]
    done = call(folder, "fit", *FILES, *settings, "--set", "fit.file=scores.npy")
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert "fit.calibrate" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_square_scores_are_taken_as_they_are(tmp_path):
    """Where there are as many targets as training images, the shape cannot tell."""
    released(tmp_path / "cifar", targets=24)
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).standard_normal((24, 24)))
    output = ok(tmp_path, "fit", *FILES, *CALIBRATE, "--set", "fit.file=scores.npy")
    assert "scores.npy is square" in output


@pytest.mark.parametrize("kind", (".npy", ".npz", ".pt", ".pt of a dict"))
def test_scores_that_fit_only_the_other_way_round_are_turned_and_the_run_says_so(folder, kind):
    weight = np.load(folder / "true.npy")
    name = saved(folder, kind, np.ascontiguousarray(weight.T))
    output = ok(folder, "fit", *FILES, *CALIBRATE, "--set", f"fit.file={name}", "--set", "fit.targets=all")
    assert output.count(f"{name} has a row for each target: it was turned") == 1
    theta, _, summary = fitted(folder)
    scale = np.array(summary["calibration"]["scale"])
    np.testing.assert_allclose(theta, weight * scale, rtol=1e-4)
    assert summary["r2_median"] > 0.5


def test_calibrate_is_for_loaded_scores(tmp_path):
    done = call(tmp_path, "fit", "--set", "fit.calibrate=true")
    assert done.returncode == 2
    assert "fit.calibrate is for scores from a file: it needs fit.mode = 'load'" in done.stderr
