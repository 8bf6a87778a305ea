"""What `findings` asks for."""

from command_here import call


def test_a_method_that_no_table_has_is_refused(tmp_path):
    done = call(tmp_path, "findings", "--method", "magic")
    assert done.returncode == 2 and "'magic' is not one of 'swap'" in done.stderr
