"""A source of 24 images and 8 targets, and pipelines on it."""

import pytest
from released_layout import released

from pipeline.config_files import load_config
from pipeline.run import Pipeline


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """24 training images and 8 targets of two classes, 300 models, 100 of them held out."""
    folder = tmp_path_factory.mktemp("source")
    released(folder)
    return folder


@pytest.fixture
def pipeline(source, tmp_path):
    """Make a pipeline on that source with these settings, in one store; what it says goes to `lines`."""

    def make(*settings, lines=None, threads=None):
        common = ["source.kind=files", f"source.folder={source}", f"source.images={source / 'images.npz'}",
                  "source.fit_rows=200", "source.held_out_rows=100", "fit.n_lambdas=10", "test.target_class=dog",
                  f"fit.file={source / 'datamodels' / 'test_50pct.pt'}", "fit.mode=load"]  # fmt: skip
        say = (lambda line: None) if lines is None else lines.append
        config = load_config("digits", [*common, *settings])
        return Pipeline(config, tmp_path / "store", tmp_path / "reports", quiet=True, say=say, threads=threads)

    return make
