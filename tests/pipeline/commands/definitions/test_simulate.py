"""What `simulate` refuses."""

import pytest
from real_command import call


@pytest.mark.parametrize(("arguments", "part"), [
    (("sizes",), "'sizes' is not one of"),
    (("--reps", "0"), "Invalid value for '--reps': 0 is not in the range"),
    (("--reps", "many"), "'many' is not a whole number"),
    (("--seed", "-1"), "Invalid value for '--seed'"),
    (("--bogus",), "No such option"),
])  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_two(arguments, part, tmp_path):
    done = call(tmp_path, "simulate", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert part in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
