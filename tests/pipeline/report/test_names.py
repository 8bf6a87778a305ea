"""Names of classes inside a sentence."""

from report_content import make_content, make_row

from pipeline.report.names import class_name, group_name, place
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
    assert group_name(["dog", "cat", "dog", "cat", "dog"]) == "5 images (3 dog, 2 cat)"
    assert group_name(["a", "b", "c"]) == "3 images (1 a, 1 b, 1 c)"
    assert group_name(["a", "b", "c", "d", "a"]) == "5 images of 4 classes"
    assert group_name(["", "dog"]) == "2 images (1 other, 1 dog)"
    assert group_name(["", ""], "item") == "2 items"
    assert group_name(["x" * 99, "x" * 99]) == "2 " + "x" * 59 + "… images"


def test_places():
    assert place("train", (1, 2, 3, 4)) == "train 1, 2, 3, …"
