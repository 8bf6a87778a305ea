"""What enters the key of a download from the network: which rows, columns and weights will be asked for."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.sources.network_content import content, weights_needed


def config_of(*settings):
    return load_config("cifar10", settings)


def key_of(*settings):
    _, download = next(Pipeline(config_of(*settings), Path("store"), Path("reports"), quiet=True).specs())
    return download.key


def test_the_released_weights_need_no_rows_to_fit():
    assert content(config_of()) == {
        "fit rows needed": False,
        "weights needed": True,
        "columns of margins": "all",
        "content of images": "CIFAR-10",
    }


@pytest.mark.parametrize(
    ("settings", "rows", "weights"),
    [
        (("fit.mode=lasso",), True, False),
        (("fit.file=mine.pt",), False, False),
        (("fit.file=mine.npy", "fit.calibrate=true"), True, False),
    ],
)
def test_the_fit_says_which_rows_and_weights(settings, rows, weights):
    config = config_of(*settings)
    assert content(config)["fit rows needed"] == rows
    assert weights_needed(config) == content(config)["weights needed"] == weights


def test_only_targets_that_are_listed_narrow_the_columns():
    assert content(config_of("fit.targets=[1,3]"))["columns of margins"] == [1, 3]
    assert content(config_of("fit.targets=all"))["columns of margins"] == "all"


@pytest.mark.parametrize(
    "setting",
    ("fit.mode=lasso", "fit.file=mine.pt", "fit.targets=[1,3]", "source.held_out_rows=999", "source.percent=10",
     "source.bucket=another", "source.prefix=another", "source.endpoint_url=http://127.0.0.1:1"),
)  # fmt: skip
def test_what_brings_other_bytes_changes_the_key(setting):
    assert key_of(setting) != key_of()


@pytest.mark.parametrize(
    "setting",
    ("fit.n_lambdas=7", "test.alpha=0.1", "source.region=eu-west-1", 'source.mirrors=["http://127.0.0.1:1/a.tar.gz"]',
     "report.name=another"),
)  # fmt: skip
def test_what_brings_the_same_bytes_does_not(setting):
    assert key_of(setting) == key_of()


def test_images_enter_by_their_content(tmp_path):
    for name, value in (("a", 0), ("b", 0), ("c", 1)):
        np.savez(tmp_path / f"{name}.npz", images=np.full(3, value))
    a, b, c = (key_of(f"source.images={tmp_path / name}.npz") for name in "abc")
    assert len({a, c, key_of()}) == 3
    assert a == b
