"""Every figure can be traced to its stages."""

from pipeline.stages.report.provenance import provenance_of


def test_command_stages_versions_and_seed_are_told(finished):
    lines = provenance_of(finished.config, finished.inputs, "datamodels-inf run --config mine")
    assert lines["Command"] == "datamodels-inf run --config mine"
    for name, result in finished.inputs.items():
        assert lines[f"Stage {name}"].startswith(f"{result.manifest['key']}, made ")
    assert lines["Seed"].startswith(f"{finished.config.test.seed} ")
    assert "numpy " in lines["Versions"]
    assert lines["Coding of the weights"].startswith("mask")
    assert "Warning" not in lines
    assert "Models left out" not in lines
