"""Names that users give stay on one line, short, and inside their sentence."""

import pytest

from pipeline.text.given_names import listed, one_line, outcome_name, printable


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


def test_what_a_terminal_would_obey_is_not_printed():
    assert printable("\x1b[2J\x9b1m\x7f\r\x07 \u202eabc\udcff") == "\ufffd[2J\ufffd1m\ufffd\ufffd\ufffd \ufffdabc\ufffd"
    assert printable("é\n\tΔ̂ − 1…") == "é\n\tΔ̂ − 1…"


def test_many_names_are_a_few_and_a_count():
    assert listed(["a\n\x1bb", "c"]) == "a b, c"
    assert listed(list("abcdefghijklmnopqrstuvwxyz")).endswith(", s, t and 6 more")
