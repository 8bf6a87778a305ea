"""docs/python.md: its quick start stays short. Its blocks are run by test_documented_pages.py."""

from documented import read_page


def test_the_quick_start_is_ten_lines():
    first = read_page("docs/python.md").blocks[0]
    assert first.language == "python"
    assert len([line for line in first.text.splitlines() if line.strip()]) <= 10
