"""`config show`, `list`, `explain` and `reference`."""

from command_here import ok
from places import ROOT


def test_show_is_the_effective_configuration(tmp_path):
    assert 'method = ["swap"]' in ok(tmp_path, "config", "show")
    assert "alpha = 0.05" in ok(tmp_path, "config", "show", "--set", "test.alpha=0.05")


def test_list_has_those_that_ship_with_their_first_line(tmp_path):
    listed = ok(tmp_path, "config", "list").splitlines()
    assert any(line.startswith("cifar10-study ") and "the models come with the package" in line for line in listed)


def test_explain_says_what_a_setting_may_be_its_default_and_its_meaning(tmp_path):
    said = ok(tmp_path, "config", "explain", "test.alpha")
    assert "test.alpha\n    number, above 0 and below 1; default 0.2\n    The false discovery rate" in said


def test_reference_is_the_page_of_the_documentation(tmp_path):
    assert ok(tmp_path, "config", "reference") == (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
