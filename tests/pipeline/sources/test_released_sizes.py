"""What is expected of the released files is what a plan finds where they are, and is said without credentials too."""

import os

import numpy as np
import pytest
from command_here import call
from header_only import HeaderOnly

from pipeline.config_files import load_config
from pipeline.remote.s3 import NO_CREDENTIALS
from pipeline.sources.fetch_plan import Remotes, make_plan
from pipeline.sources.madrylab import USD_PER_GB
from pipeline.sources.released_sizes import MODELS, expected_bytes, expected_sentence

LINE = (
    "expected to fetch: 3 files (masks 500.0 MB, margins 200.0 MB, weights 2.0 GB), 2.7 GB in all, about 0.24 USD to "
    "the requester; less what is already here"
)


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


@pytest.mark.parametrize("name", ("cifar10", "cifar10-all", "cifar10-10pct", "cifar10-20pct", "cifar10-75pct"))
@pytest.mark.parametrize("mode", ("as it is", "fit.mode=lasso"))
def test_as_planned_from_arrays_of_the_released_shapes(tmp_path, name, mode):
    config = load_config(name, [mode] if "=" in mode else [])
    n_models = MODELS[config.source.percent]
    masks = HeaderOnly("masks.npy", (n_models, 50_000), np.bool_)
    margins = HeaderOnly("margins.npy", (n_models, 10_000), np.float16)
    plan = make_plan(config, Remotes(masks, margins), tmp_path)
    expected = expected_bytes(config)
    assert expected.pop("weights", 2_000_000_000) == 2_000_000_000
    assert {need.label: need.missing_bytes for need in plan.needs} == expected


@pytest.mark.usefixtures("no_credentials")
def test_without_credentials_the_cost_is_said_first(tmp_path):
    done = call(tmp_path, "run", "--config", "cifar10")
    assert (done.returncode, done.stderr) == (2, f"datamodels-inf: {NO_CREDENTIALS}\n")
    assert [line.strip() for line in done.stdout.splitlines()] == ["download  running  not run before", LINE]


@pytest.mark.usefixtures("no_credentials")
def test_a_dry_run_needs_no_credentials_where_the_sizes_are_known(tmp_path):
    done = call(tmp_path, "run", "--config", "cifar10", "--dry-run")
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
    assert done.returncode == 0
    assert said == [
        "download  running  not run before", LINE,
        "dry run: nothing was fetched; a real run needs AWS credentials (set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or run `aws configure`).",
    ]  # fmt: skip
    other = call(tmp_path, "run", "--config", "cifar10", "--dry-run", "--set", "source.bucket=mine")
    assert (other.returncode, other.stderr) == (2, f"datamodels-inf: {NO_CREDENTIALS}\n")


def test_of_other_files_nothing_is_known():
    assert expected_sentence(load_config("cifar10", []), USD_PER_GB) == LINE
    for setting in ("source.bucket=mine", "source.prefix=imagenet", "source.endpoint_url=http://127.0.0.1:1"):
        assert expected_sentence(load_config("cifar10", [setting]), USD_PER_GB) == ""
