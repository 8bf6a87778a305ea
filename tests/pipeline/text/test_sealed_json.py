"""JSON with a checksum of its own."""

import json

import pytest

from pipeline.text.sealed_json import checksum_of, read_sealed, sealed, unsealed

CONTENT = {"seed": 5, "names": ["a", "ö"], "step": 0.1}


def test_what_was_sealed_is_read_again_however_it_is_set():
    for text in (json.dumps(sealed(CONTENT)), json.dumps(sealed(CONTENT), indent=1, ensure_ascii=False)):
        assert unsealed(json.loads(text)) == CONTENT
    assert checksum_of(sealed(CONTENT)) == checksum_of(CONTENT) == sealed(CONTENT)["checksum"]


@pytest.mark.parametrize("found", ({**sealed(CONTENT), "seed": 4}, {**CONTENT, "checksum": None}, [CONTENT], None, 3))
def test_what_is_another_is_refused(found):
    with pytest.raises(ValueError, match="its checksum is another one"):
        unsealed(found)


def test_what_has_no_checksum_is_of_an_earlier_version():
    assert unsealed(CONTENT) == CONTENT


def test_not_a_byte_of_a_file_may_be_missing(tmp_path):
    text = json.dumps(sealed(CONTENT), indent=1) + "\n"
    (tmp_path / "whole.json").write_text(text)
    assert read_sealed(tmp_path / "whole.json") == CONTENT
    (tmp_path / "short.json").write_text(text[:-1])
    with pytest.raises(ValueError, match="its end is missing"):
        read_sealed(tmp_path / "short.json")
    (tmp_path / "earlier.json").write_text(json.dumps(CONTENT))
    assert read_sealed(tmp_path / "earlier.json") == CONTENT
