"""What `referee` asks for."""

from command_here import call


def test_without_scores_there_is_nothing_to_referee(tmp_path):
    done = call(tmp_path, "referee")
    assert done.returncode == 2 and "--scores" in done.stderr
    assert list(tmp_path.iterdir()) == []
