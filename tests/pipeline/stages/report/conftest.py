"""A small run, finished up to what the report reads."""

import pytest
from clustered_images import settings

from pipeline.config_files import load_config
from pipeline.run import Pipeline, needed_by
from pipeline.stages import STAGES, Run


@pytest.fixture(scope="session")
def finished(clusters):
    """The report stage's `Run`, with re-runs."""
    config = load_config("digits", [*settings(clusters / "alike"), "robustness.top=2", "robustness.neighbours=3"])
    pipeline = Pipeline(config, clusters / "alike" / "store", clusters / "reports", quiet=True, command="made by me")
    pipeline.run("report")
    found = pipeline.finished(needed_by("report"), "")
    inputs = {name: found[name] for name in STAGES["report"].inputs if name in found}
    folder = clusters / "alike"
    return Run(config, inputs, folder, folder, folder, 1, True, print, bool, True, "made by me")
