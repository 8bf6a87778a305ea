"""Configurations as files: named ones, overrides, what is written back, and files that cannot be read."""

import re
import tomllib

import numpy as np
import pytest
from own_folders import write

from pipeline.config_files import literal, load_config, to_toml
from pipeline.errors import BadInputError
from pipeline.named_configs import named_configs


@pytest.mark.parametrize("name", sorted(named_configs()))
def test_named_configs_are_valid_and_print_as_toml_that_reads_back(name, tmp_path):
    config = load_config(name, [])
    (tmp_path / "copy.toml").write_text(to_toml(config))
    assert load_config(str(tmp_path / "copy.toml"), []) == config


def test_any_text_reads_back_from_toml():
    text = "".join(map(chr, range(0xD800))) + "\U0001f600"
    assert tomllib.loads(f"x = {literal(text)}")["x"] == text


def test_overrides_are_toml_values_or_strings():
    config = load_config(
        "digits",
        [
            "test.alpha=0.05",
            "test.target_class=8",
            "test.method=[\"swap\", 'paired']",
            "report.name=my-run",
            "fit.targets=[1,2]",
        ],
    )
    assert config.test.alpha == 0.05
    assert config.test.target_class == "8"
    assert config.test.method == ["swap", "paired"]
    assert config.report.name == "my-run"
    assert config.fit.targets == [1, 2]


def test_bad_files(tmp_path):
    with pytest.raises(BadInputError, match="there are cifar10, cifar10-10pct"):
        load_config("digit", [])
    with pytest.raises(BadInputError, match="no such file"):
        load_config(str(tmp_path / "none.toml"), [])
    for text in ("[test\nalpha = ", "x = " + "[" * 9999, "x = " + "9" * 5000, "x = \x7f"):
        (tmp_path / "bad.toml").write_text(text)
        with pytest.raises(BadInputError, match="not valid TOML"):
            load_config(str(tmp_path / "bad.toml"), [])


@pytest.mark.parametrize(("value", "reason"), [
    ("[" * 9999, "its value cannot be read (it is nested too deep)"),
    ("9" * 5000, "its value cannot be read (Exceeds the limit"),
    ("0.1\nseed = 3", "a value stands on one line; give one --set for each setting"),
    ("0.1\r\n[source]", "a value stands on one line; give one --set for each setting"),
])  # fmt: skip
def test_values_that_cannot_be_read_are_refused(value, reason):
    with pytest.raises(BadInputError, match=rf"^--set test\.alpha: {re.escape(reason)}"):
        load_config("digits", [f"test.alpha={value}"])


@pytest.fixture
def unlabelled(tmp_path):
    """Settings of a folder without classes."""
    write(tmp_path / "own", np.zeros(60), masks=np.eye(60, 8, dtype=bool))
    path = tmp_path / "own.toml"
    path.write_text(f'[source]\nkind = "files"\nfolder = "{tmp_path / "own"}"\n')
    return str(path)


def test_without_labels_the_design_needs_none(unlabelled):
    test = load_config(unlabelled, []).test
    assert (test.design, test.targets) == ("top", "all")
    assert load_config(unlabelled, ["test.targets=[0]", "test.k=2"]).test.targets == [0]
    assert 'design = "top"' in to_toml(load_config(unlabelled, []))


@pytest.mark.parametrize("chosen", ("test.design=paper", "test.target_class=dog", "test.repeats=3"))
def test_a_design_that_is_chosen_stays(unlabelled, chosen):
    assert load_config(unlabelled, [chosen]).test.design == "paper"


def test_with_labels_the_design_is_the_papers(unlabelled, tmp_path):
    assert load_config(unlabelled, [f"source.labels={tmp_path / 'labels.npz'}"]).test.design == "paper"
    (tmp_path / "own" / "subsets.json").write_text('{"train_labels": [0], "target_labels": [0]}')
    assert load_config(unlabelled, []).test.design == "paper"


def test_what_is_wrong_with_a_folder_is_not_said_by_its_configuration(unlabelled, tmp_path):
    (tmp_path / "own" / "subsets.json").write_text("[[1, 2]]")
    assert load_config(unlabelled, []).test.design == "paper"


@pytest.mark.parametrize("length", range(0, 420, 7))
def test_a_long_address_is_cut_after_its_secrets_are_hidden(length):
    """Of what is cut, nobody can tell which value the end is of."""
    address = f"https://host/{'p' * length}/a.npy?part=1&X-Amz-Security-Token={'s3cr3t' * 90}&X-Amz-Signature=s3cr3t"
    for override in (f"masks_url={address}", f"source.kind={address}"):
        with pytest.raises(BadInputError) as caught:
            load_config("digits", [override])
        assert "s3cr3t" not in str(caught.value)
