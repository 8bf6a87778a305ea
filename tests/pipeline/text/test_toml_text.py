"""TOML that nobody means is one sentence."""

import pytest

from pipeline.text.toml_text import read_toml


def test_tables_of_any_usual_form():
    text = '[a]\nb = [1, 2.5, "c"]\n[a.d]\ne = {f = true}\n'
    assert read_toml(text) == {"a": {"b": [1, 2.5, "c"], "d": {"e": {"f": True}}}}


@pytest.mark.parametrize(
    "text",
    (
        "a = " + "[" * 2000 + "]" * 2000,
        "a = " + "[" * 100 + "]" * 100,
        "a = " + "{a = " * 100 + "1" + "}" * 100,
        f"[{'.'.join('a' * 300)}]",
        "a = " + "9" * 5000,
        "a = 0x" + "f" * 6000,
        f"a = {2**128}",
        f"a = [{-(2**128) - 1}]",
        "a =",
    ),
    ids=lambda text: text[:12],
)
def test_what_nobody_means_is_refused(text):
    with pytest.raises(ValueError, match=r"too deep|too large|Exceeds|Invalid|digits"):
        read_toml(text)
