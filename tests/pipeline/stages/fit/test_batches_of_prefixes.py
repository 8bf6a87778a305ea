"""The fit of every prefix of rows, where every model tests: files, figures, keys, and what a killed one keeps."""

import json

import numpy as np
import pytest
from command_here import call, ok
from stopped_fit import fit_stopped_when

from datamodels_inf.lasso.prefixes import fit_lasso_prefixes
from datamodels_inf.lasso.solver import BATCH, Lasso
from datamodels_inf.row_blocks import block_ends
from pipeline.config_files import load_config
from pipeline.sources.embedded import FOLDER as EMBEDDED
from pipeline.stages import STAGES
from pipeline.stages.fit import lasso_batches
from pipeline.stages.inputs import datamodel_files
from pipeline.store.unfinished_steps import save_step

TARGETS = list(range(40))
ROWS = ("test.rows=progressive", "test.blocks=3", "source.first_rows=600")
WORDS = (*ROWS, "fit.n_lambdas=30", f"fit.targets={TARGETS}")
PROGRESSIVE = ("fit", *(word for setting in WORDS for word in ("--set", setting)))
ENDS = block_ends(12_000, 600, 3)


def result(folder):
    (path,) = folder.glob("data/fit/[0-9a-f]*/datamodel.npz")
    return path.parent


def contents(folder):
    return [file.read_bytes() for file in datamodel_files(result(folder), 3)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("progressive")
    ok(folder, *PROGRESSIVE)
    return folder


@pytest.fixture(scope="module")
def rows():
    masks = np.unpackbits(np.load(EMBEDDED / "masks.npy"), axis=1, count=400).astype(bool)
    return masks, np.load(EMBEDDED / "margins.npy")[:, TARGETS]


def test_a_file_for_each_prefix_as_the_library_fits_it(undisturbed, rows):
    """Batch by batch, through files, against one call."""
    some = [0, BATCH - 1, BATCH, 39]
    expected = fit_lasso_prefixes(rows[0], rows[1][:, some], ENDS, n_lambdas=30)
    for file, datamodel in zip(datamodel_files(result(undisturbed), 3), expected, strict=True):
        with np.load(file) as arrays:
            np.testing.assert_array_equal(arrays["weight"][:, some], datamodel.weight)
            np.testing.assert_array_equal(arrays["bias"][some], datamodel.bias)
            np.testing.assert_array_equal(arrays["lam"][some], datamodel.lam)
            assert arrays["targets"].tolist() == TARGETS


def test_the_figures_are_those_of_each_prefix_on_its_own_block(undisturbed, rows):
    masks, margins = rows
    summary = json.loads((result(undisturbed) / "manifest.json").read_text())["summary"]
    assert summary["n_prefixes"] == len(ENDS) == len(summary["r2_of_prefixes"])
    datamodels = fit_lasso_prefixes(masks, margins, ENDS, n_lambdas=30)
    blocks = [slice(start, stop) for start, stop in zip(ENDS, (*ENDS[1:], 12_000), strict=True)]
    r2 = [datamodel.quality(masks[b], margins[b]).r2 for datamodel, b in zip(datamodels, blocks, strict=True)]
    np.testing.assert_allclose(summary["r2_of_prefixes"], np.median(r2, axis=1), atol=1e-5)
    assert summary["r2_median"] == summary["r2_of_prefixes"][-1]
    assert 0 < summary["gap_max"] <= summary["gap_tolerance"]
    with np.load(result(undisturbed) / "quality.npz") as arrays:
        np.testing.assert_allclose(arrays["r2"], r2[-1], atol=1e-5)
        np.testing.assert_array_equal(arrays["lam"], datamodels[-1].lam)


def test_a_killed_fit_goes_on_and_ends_with_the_same_bytes(undisturbed, tmp_path):
    unfinished = fit_stopped_when(tmp_path, "fitted-1-000000.npz", *PROGRESSIVE)
    kept = {path.name for path in unfinished.glob("*.npz")}
    assert {"chosen-0-000000.npz", f"fitted-0-{BATCH:06d}.npz", f"chosen-1-{BATCH:06d}.npz"} <= kept
    output = ok(tmp_path, *PROGRESSIVE)
    assert f"going on with a fit that was stopped: {len(kept)} of 12 steps are done" in output
    assert contents(tmp_path) == contents(undisturbed)
    assert not unfinished.exists()


class StoppedError(Exception):
    """Stands for a kill, in this process."""


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A fit that was stopped when the last prefix had its λ; (its unfinished folder, what is called from now on)."""
    calls = []

    def noted(name):
        method = getattr(Lasso, name)

        def step(self, margins, *others, prefix, **options):
            calls.append((name, prefix))
            if len(calls) == 11:
                raise StoppedError
            return method(self, margins, *others, prefix=prefix, **options)

        monkeypatch.setattr(Lasso, name, step)

    noted("choose")
    noted("refit")
    assert call(tmp_path, *PROGRESSIVE).returncode != 0
    assert calls[-1] == ("refit", 2)
    (unfinished,) = tmp_path.glob("data/fit/.work-*")
    calls[:] = [None] * 20
    return unfinished, calls


def test_finished_steps_are_not_made_again(undisturbed, tmp_path, stopped):
    _, calls = stopped
    ok(tmp_path, *PROGRESSIVE)
    assert calls[20:] == [("refit", 2), ("refit", 2)]
    assert contents(tmp_path) == contents(undisturbed)


def test_a_damaged_step_of_an_earlier_prefix_is_named_and_made_again(undisturbed, tmp_path, stopped):
    unfinished, calls = stopped
    cut, changed = unfinished / "fitted-0-000000.npz", unfinished / f"chosen-1-{BATCH:06d}.npz"
    cut.write_bytes(cut.read_bytes()[:-300])
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    output = ok(tmp_path, *PROGRESSIVE)
    assert f"{cut.name} is damaged" in output
    assert f"{changed.name} is damaged" in output
    assert calls[20:] == [("refit", 0), ("choose", 1), ("refit", 2), ("refit", 2)]
    assert contents(tmp_path) == contents(undisturbed)


def test_threads_and_memory_change_no_byte(undisturbed, tmp_path):
    ok(tmp_path, *PROGRESSIVE, "--set", "fit.memory_gb=0.01", "--threads", "1")
    assert contents(tmp_path) == contents(undisturbed)


def test_one_block_is_the_fit_of_its_rows(tmp_path, rows):
    ok(tmp_path, *PROGRESSIVE, "--set", "test.blocks=1")
    (expected,) = fit_lasso_prefixes(*rows, (600,), n_lambdas=30)
    assert not list(result(tmp_path).glob("datamodel-*.npz"))
    with np.load(result(tmp_path) / "datamodel.npz") as arrays:
        np.testing.assert_array_equal(arrays["weight"], expected.weight)


def test_blocks_enter_the_key_where_every_model_tests():
    def settings(*words):
        return STAGES["fit"].settings(load_config("digits", words))

    held_out, progressive = settings(), settings("test.rows=progressive")
    assert "test.rows" not in held_out
    assert (progressive["test.rows"], progressive["test.blocks"]) == ("progressive", None)
    assert settings("test.rows=progressive", "test.blocks=4") == {**progressive, "test.blocks": 4}
    assert settings("test.rows=progressive", "test.alpha=0.07", "test.repeats=1") == progressive
    assert settings("test.alpha=0.07", "test.repeats=1") == held_out


def test_too_many_rows_for_lambda_is_one_sentence(tmp_path):
    done = call(tmp_path, *PROGRESSIVE, "--set", "fit.validation_rows=599")
    assert done.returncode == 2
    assert "`validation_rows` must lie between 1 and 598" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("then", "damaged"), [("fitted-0-000032", "chosen-0-000000"), ("chosen-1-000000", "fitted-0-000032")]
)
def test_a_file_that_is_damaged_while_the_fit_goes_on_is_made_again(undisturbed, tmp_path, monkeypatch, then, damaged):
    """Also where the Gram matrix has taken rows since that the step must not see."""

    def save(path, arrays):
        save_step(path, arrays)
        if path.stem == then:
            other = path.with_stem(damaged)
            other.write_bytes(other.read_bytes()[:-300])

    monkeypatch.setattr(lasso_batches, "save_step", save)
    output = ok(tmp_path, *PROGRESSIVE)
    assert f"{damaged}.npz is damaged" in output
    assert contents(tmp_path) == contents(undisturbed)
