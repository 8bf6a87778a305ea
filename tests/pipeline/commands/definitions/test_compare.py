"""`compare` without a finished test stage."""

from command_here import call


def test_it_names_the_command_that_makes_what_it_reads(tmp_path):
    done = call(tmp_path, "compare", "--config", "digits-top", "--store", "there")
    assert done.returncode == 2
    assert done.stderr.endswith("first run: datamodels-inf test --config digits-top --store there\n")
