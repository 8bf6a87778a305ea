"""Batches of a fit with the real command: they outlive a kill, and are those of one call of the library."""

import json
import shutil

import numpy as np
import pytest
from command_here import ok
from stopped_fit import fit_stopped_when

from datamodels_inf.lasso.prefixes import fit_lasso
from datamodels_inf.lasso.solver import BATCH
from pipeline.sources.embedded import FOLDER as EMBEDDED

ALL = ("fit", "--set", "fit.targets=all", "--set", "fit.n_lambdas=40")


def stopped_when(folder, pattern):
    return fit_stopped_when(folder, pattern, *ALL)


def result(folder):
    (path,) = folder.glob("data/fit/[0-9a-f]*/datamodel.npz")
    return path


def manifest(folder):
    return json.loads((result(folder).parent / "manifest.json").read_text())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    ok(folder, *ALL)
    return folder


@pytest.mark.parametrize("pattern", (f"chosen-0-{BATCH:06d}.npz", f"fitted-0-{BATCH:06d}.npz"))
def test_a_killed_fit_goes_on_and_ends_with_the_same_bytes(undisturbed, tmp_path, pattern):
    unfinished = stopped_when(tmp_path, pattern)
    kept = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("[!.]*.npz")}
    assert "chosen-0-000000.npz" in kept
    (unfinished / ".part-0123abcd.npz").write_bytes(b"")  # As a kill in the middle of writing leaves it: no step.
    output = ok(tmp_path, *ALL)
    assert f"going on with a fit that was stopped: {len(kept)} of {2 * -(-120 // BATCH)} steps are done" in output
    assert result(tmp_path).read_bytes() == result(undisturbed).read_bytes()
    assert not unfinished.exists()


def test_finished_batches_are_not_fitted_again(tmp_path):
    unfinished = stopped_when(tmp_path, f"chosen-0-{2 * BATCH:06d}.npz")
    before = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("chosen-*.npz")}
    again = stopped_when(tmp_path, "fitted-0-000000.npz")
    assert again == unfinished
    after = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("chosen-*.npz")}
    assert before.items() <= after.items()


def test_a_damaged_batch_is_named_and_made_again(undisturbed, tmp_path):
    unfinished = stopped_when(tmp_path, f"chosen-0-{2 * BATCH:06d}.npz")
    cut, changed = unfinished / "chosen-0-000000.npz", unfinished / f"chosen-0-{BATCH:06d}.npz"
    cut.write_bytes(cut.read_bytes()[:-300])
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    output = ok(tmp_path, *ALL)
    assert f"{cut.name} is damaged" in output
    assert f"{changed.name} is damaged" in output
    assert result(tmp_path).read_bytes() == result(undisturbed).read_bytes()


def test_forced_begins_anew(tmp_path):
    unfinished = stopped_when(tmp_path, "chosen-0-000000.npz")
    output = ok(tmp_path, *ALL, "--force", "fit")
    assert "going on" not in output
    assert not unfinished.exists()


def test_batches_of_another_recipe_are_not_used(tmp_path):
    unfinished = stopped_when(tmp_path, "chosen-0-000000.npz")
    output = ok(tmp_path, *ALL, "--set", "fit.patience=2")
    assert "going on" not in output
    assert unfinished.exists()


def test_the_stage_fits_what_fit_lasso_fits(undisturbed):
    """Batch by batch, through files, against one call."""
    masks = np.unpackbits(np.load(EMBEDDED / "masks.npy")[:8000], axis=1, count=400).astype(bool)
    margins = np.load(EMBEDDED / "margins.npy")[:8000]
    some = [0, BATCH - 1, BATCH, 119]
    expected = fit_lasso(masks, margins[:, some], n_lambdas=40)
    with np.load(result(undisturbed)) as arrays:
        np.testing.assert_array_equal(arrays["weight"][:, some], expected.weight)
        np.testing.assert_array_equal(arrays["lam"][some], expected.lam)


def test_the_manifest_says_how_optimal_and_how_good(undisturbed):
    summary = manifest(undisturbed)["summary"]
    assert 0 <= summary["gap_max"] <= summary["gap_tolerance"] == 1e-6
    assert 0 <= summary["gap_max_on_paths"] <= 1e-6
    assert summary["n_lambda_at_end"] == 0
    quality = summary["quality"]
    assert quality["targets"] == list(range(120))
    assert np.median(quality["r2"]) == pytest.approx(summary["r2_median"], abs=1e-5)
    with np.load(result(undisturbed).parent / "quality.npz") as arrays:
        np.testing.assert_allclose(arrays["spearman"], quality["spearman"], atol=1e-6)
        true, predicted = arrays["shown_true"], arrays["shown_predicted"]
        shown = arrays["r2"][arrays["shown"]]
        assert shown[0] == arrays["r2"].min()
        assert shown[2] == arrays["r2"].max()
        assert true.shape == predicted.shape == (3, 400)
        rough = 1 - ((true - predicted) ** 2).mean(1) / true.var(1)  # Of 400 models where the stage took 4000.
        np.testing.assert_allclose(rough, shown, atol=0.15)


def test_a_path_that_is_too_short_is_counted(tmp_path):
    ok(tmp_path, "fit", "--set", "fit.n_lambdas=5", "--set", "fit.lambda_ratio=0.5")
    assert manifest(tmp_path)["summary"]["n_lambda_at_end"] == 12


def test_an_unfinished_fit_goes_on_when_its_inputs_were_made_again_the_same(tmp_path):
    unfinished = stopped_when(tmp_path, "chosen-0-000000.npz")
    shutil.rmtree(tmp_path / "data" / "download")
    output = ok(tmp_path, *ALL)
    assert "going on with a fit that was stopped" in output
    assert not unfinished.exists()
