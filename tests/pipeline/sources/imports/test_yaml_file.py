"""YAML of other tools: plain values, and nothing that runs."""

import pytest

from pipeline.errors import BadInputError
from pipeline.sources.imports.yaml_file import read_yaml


def test_plain_values(tmp_path):
    (tmp_path / "x.yml").write_text("data_length: 16\nlists: [[1], [2, 3]]\n")
    assert read_yaml(tmp_path / "x.yml") == {"data_length": 16, "lists": [[1], [2, 3]]}


@pytest.mark.parametrize(
    "text",
    (
        "a: [",
        "!!python/object/apply:os.getcwd []",
        "\x00",
        "a: 2024-99-99",
        "[" * 9999,
        "9" * 5000,
        "{[1]: 2}",
        "<<: 5",
    ),
)
def test_what_is_not_plain_is_refused(tmp_path, text):
    (tmp_path / "x.yml").write_text(text)
    with pytest.raises(BadInputError, match=r"x\.yml is not plain YAML"):
        read_yaml(tmp_path / "x.yml")
