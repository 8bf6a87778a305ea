"""The stage: a finding on the embedded digits is confirmed, a kill and more workers change nothing, keys are whole."""

import shutil
import time

import pytest
from small_trained import settings, verify
from warm import Command

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline
from pipeline.stages import STAGES
from pipeline.verified import read_verified

SMALL = ("fit.targets=[3,84]", "fit.n_lambdas=10", "test.repeats=2", "atlas.targets=", "test.method=contrast")


def test_the_first_findings_on_the_embedded_digits_are_confirmed(tmp_path):
    config = load_config("digits", [*SMALL, "test.targets=class", "verify.top=2", "verify.models=40"])
    result = Pipeline(config, tmp_path / "store", tmp_path / "reports", quiet=True).run("verify")
    rows = read_verified(result.folder)
    assert [row.finding for row in rows] == [1, 2]
    assert [row.verdict for row in rows] == ["confirmed", "confirmed"]
    assert all(abs(row.z) < 4 for row in rows)
    assert result.summary["n_models"] == 80


def test_a_killed_stage_goes_on_and_workers_change_nothing(small_set, tmp_path):
    extra = ("verify.top=3", "verify.models=400")
    whole = verify(small_set, *extra, threads=1)
    shutil.copytree(small_set / "store", tmp_path / "store", ignore=shutil.ignore_patterns("verify"))
    words = [word for setting in [*settings(small_set), *extra] for word in ("--set", setting)]
    process = Command(tmp_path, "verify", *words, "--store", tmp_path / "store", "--threads", 2, "--quiet")
    deadline = time.monotonic() + 120
    while not list(tmp_path.rglob("couples-*.npz")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = list(tmp_path.rglob("couples-*.npz"))
    assert kept
    lines = []
    config = load_config("digits", [*settings(small_set), *extra])
    again = Pipeline(config, tmp_path / "store", tmp_path, quiet=True, threads=2, say=lines.append).run("verify")
    assert any(f"going on: {len(kept)} of " in line for line in lines)
    assert (again.folder / "verify.parquet").read_bytes() == (whole.folder / "verify.parquet").read_bytes()


def test_the_key_holds_what_is_read_and_nothing_else(small_set):
    def key(*extra):
        config = load_config("digits", [*settings(small_set), *extra])
        return dict(Pipeline(config, small_set / "store", small_set).specs())["verify"].key

    top = key("verify.top=2")
    assert top == key("verify.top=2", "verify.fresh=100", "report.max_panels=1", "train.n_models=7")
    others = ("verify.models=10", "verify.seed=1", "verify.method=contrast", "test.alpha=0.3")
    assert len({top, key("verify.findings=[1,2]"), *(key("verify.top=2", one) for one in others)}) == 2 + len(others)
    assert "verify" not in dict(Pipeline(load_config("digits", ()), small_set / "store", small_set).specs())
    assert list(STAGES).index("verify") == list(STAGES).index("robustness") + 1


def test_nothing_found_means_nothing_to_train(small_set):
    result = verify(small_set, "verify.findings=[2]", "test.alpha=1e-200")
    assert read_verified(result.folder) == []
    assert result.summary["n_models"] == 0


def test_a_source_that_was_not_trained_here_is_refused(tmp_path):
    config = load_config("digits", ["source.kind=files", f"source.folder={tmp_path}", "verify.top=1"])
    with pytest.raises(BadInputError, match=r"verify trains more models .* not made by"):
        STAGES["verify"].settings(config)
