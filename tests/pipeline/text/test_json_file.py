"""JSON of others: read, or refused in a sentence."""

import json

import pytest

from pipeline.errors import BadInputError
from pipeline.text.json_file import parse_json, read_json, without_nan


def test_any_form_is_read(tmp_path):
    (tmp_path / "x.json").write_text('{"a": [1, null]}')
    assert read_json(tmp_path / "x.json") == {"a": [1, None]}


@pytest.mark.parametrize(
    "content", (b"", b"{", b"[" * 200_000, b'{"n": ' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"a":' * 200_000)
)
def test_what_is_none_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(BadInputError, match=r"x\.json is not valid JSON \(.{5,140}\)\.$"):
        read_json(tmp_path / "x.json")


def test_a_folder_is_none(tmp_path):
    with pytest.raises(BadInputError, match="is not valid JSON"):
        read_json(tmp_path)


def test_what_json_has_no_number_for_is_none_at_any_depth():
    inf, nan = float("inf"), float("nan")
    told = {"a": [1.5, nan, {"b": (inf, "nan", True)}], "c": -inf}
    assert without_nan(told) == {"a": [1.5, None, {"b": [None, "nan", True]}], "c": None}
    assert parse_json(json.dumps(without_nan(told), allow_nan=False)) == without_nan(told)
