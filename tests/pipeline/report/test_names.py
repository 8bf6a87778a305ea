"""Names of classes inside a sentence."""

from report_content import make_row

from pipeline.report.names import class_name
from pipeline.report.rows import Numbered
from pipeline.report.sentences import sentence


def test_names_cannot_turn_the_text_around_them():
    assert class_name("a\u202eb\n\u2069c") == "abc"
    assert class_name("\u202e") == class_name("") == "image"
    row = make_row(class_i="עברית\u202e", class_j="x" * 200, i=3, j=4)
    text = sentence(Numbered(1, row, 1), "margin")
    assert "this \u2068עברית\u2069 (train 3) instead of that " + "x" * 59 + "… (train 4)" in text
