"""`images` with a place that is not there."""

from command_here import call


def test_a_given_path_is_the_only_place(tmp_path):
    done = call(tmp_path, "images", "--path", "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr and done.stderr.count("\n") == 1
    assert "mirror" not in done.stdout
