"""Names of classes inside a sentence."""

from report_content import make_content, make_row

from pipeline.report.names import class_name, group_name, listed, place
from pipeline.report.rows import Numbered
from pipeline.report.sentences import sentence


def test_names_cannot_turn_the_text_around_them():
    assert class_name("a\u202eb\n\u2069c") == "abc"
    assert class_name("\u202e") == class_name("") == "image"
    row = make_row(class_i="עברית\u202e", class_j="x" * 200, i=3, j=4)
    text = sentence(Numbered(1, row, 1), make_content([]))
    assert "this \u2068עברית\u2069 (train 3) instead of that " + "x" * 59 + "… (train 4)" in text


def test_groups_are_named_by_all_their_classes():
    assert group_name(["dog"] * 5) == "5 dog images"
    assert group_name(["dog", "cat", "dog", "cat", "dog"]) == "3 dog and 2 cat images"
    assert group_name(["a", "b", "c"]) == "1 a, 1 b and 1 c images"
    assert group_name(["a", "b", "c", "d", "a"]) == "5 images of 4 classes"
    assert group_name(["", "dog"]) == "1 other and 1 dog images"
    assert group_name(["", ""], "item") == "2 items"
    assert group_name(["x" * 99, "x" * 99]) == "2 " + "x" * 59 + "… images"


def test_lists_and_places():
    assert [listed(["a", "b", "c"][:k]) for k in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert place("train", (1, 2, 3, 4)) == "train 1, 2, 3, …"
