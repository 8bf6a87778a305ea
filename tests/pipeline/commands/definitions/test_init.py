"""What `init` asks for."""

from command_here import call


def test_it_wants_a_folder(tmp_path):
    done = call(tmp_path, "init", "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
