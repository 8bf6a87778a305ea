"""`status` on an empty store."""

from command_here import ok


def test_it_runs_nothing(tmp_path):
    lines = ok(tmp_path, "status").splitlines()
    assert lines[0] == "store data"
    assert all("would run: not run before" in line for line in lines[1:])
    assert list(tmp_path.iterdir()) == []
