"""Names that users give stay on one line, short, and inside their sentence."""

import pytest

from pipeline.text.given_names import one_line, outcome_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bmi", "bmi"),
        ("  body \n mass\tindex ", "body mass index"),
        ("a\u202eb\x00c", "a b c"),
        ("", ""),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
    ],
)
def test_a_name_is_one_line(text, expected):
    assert one_line(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("margin", "margin"), ("log loss", "log loss"), ("\n", "outcome"), ("", "outcome"), ("p" * 50, "p" * 39 + "…")],
)
def test_an_outcome_without_a_name_is_an_outcome(text, expected):
    assert outcome_name(text) == expected
