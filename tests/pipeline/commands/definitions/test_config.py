"""`config show` and `config list`."""

from command_here import ok


def test_show_is_the_effective_configuration(tmp_path):
    assert 'method = ["swap"]' in ok(tmp_path, "config", "show")
    assert "alpha = 0.05" in ok(tmp_path, "config", "show", "--set", "test.alpha=0.05")


def test_list_has_those_that_ship_with_their_first_line(tmp_path):
    listed = ok(tmp_path, "config", "list").splitlines()
    assert any(line.startswith("cifar10-study ") and "the models come with the package" in line for line in listed)
