"""What `check` asks for."""

from command_here import call, ok


def test_it_looks_at_a_configuration_and_writes_nothing(tmp_path):
    assert "It can run" in ok(tmp_path, "check", "--config", "digits")
    assert call(tmp_path, "check", "--config", "nothing").returncode == 2
    assert list(tmp_path.iterdir()) == []
