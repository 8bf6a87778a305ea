"""What `robustness` asks for."""

from command_here import call


def test_a_finding_and_a_pair_are_two_questions(tmp_path):
    done = call(tmp_path, "robustness", "--finding", "1", "--pair", "2", "3")
    assert (done.returncode, done.stderr) == (2, "datamodels-inf: --finding and --pair cannot both be given.\n")
