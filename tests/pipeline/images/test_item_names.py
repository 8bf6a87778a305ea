"""Names of single images: what is read is what was written, and a damaged file is named."""

import pytest

from pipeline.errors import BadInputError
from pipeline.images.item_names import ItemNames


def test_names_are_read_as_they_were_written(tmp_path):
    names = ItemNames(train=("bmi", "größe", ""), targets=("patient 7",))
    names.save(tmp_path / "names.json")
    assert ItemNames.load(tmp_path / "names.json") == names
    assert names.of("train", 1) == "größe" and names.of("target", 0) == "patient 7"
    assert ItemNames().of("train", 99) == ""


@pytest.mark.parametrize("text", ("", "[]", "{}", '{"train": [1], "targets": []}', '{"train": ["a"]}'))
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / "names.json").write_text(text)
    with pytest.raises(BadInputError, match=r"names\.json"):
        ItemNames.load(tmp_path / "names.json")
