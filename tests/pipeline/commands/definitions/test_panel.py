"""What `panel` asks for."""

from command_here import call


def test_a_finding_must_be_named(tmp_path):
    done = call(tmp_path, "panel")
    assert done.returncode == 2
    assert "Missing option '--finding'" in done.stderr
    assert "METHOD-NUMBER" in call(tmp_path, "panel", "--help").stdout
