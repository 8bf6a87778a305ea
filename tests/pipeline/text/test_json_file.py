"""JSON of others: read, or refused in a sentence."""

import pytest

from pipeline.errors import BadInputError
from pipeline.text.json_file import read_json


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
