"""`plan` on the command line."""

from command_here import call, ok


def test_more_power_needs_fewer_models(tmp_path):
    output = ok(tmp_path, "plan", "--effect", "0.5", "--alpha", "0.001")
    counts = [int(line.split()[-1].replace(",", "")) for line in output.splitlines()[1:]]
    assert counts == sorted(counts, reverse=True)


def test_no_effect_needs_no_plan(tmp_path):
    done = call(tmp_path, "plan", "--effect", "0")
    assert (done.returncode, done.stderr) == (
        2,
        "datamodels-inf: --effect must be a finite number other than 0, but it is 0.0.\n",
    )
