"""`train` without a place for what it makes."""

from command_here import call


def test_a_folder_is_named_or_follows_from_the_configuration(tmp_path):
    done = call(tmp_path, "train", "--models", "4")
    assert (done.returncode, done.stderr) == (2, "datamodels-inf: name the folder to make: --out DIR.\n")
    done = call(tmp_path, "train", "--config", "digits-top")
    assert "has no section [train]" in done.stderr
