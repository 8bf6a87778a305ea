"""`status`: what is there, what would run, and why."""

import shutil

from command_here import ok
from real_command import SMALL, STAGES, states


def test_status_says_what_is_there_and_what_would_run_and_why(small_run):
    output = ok(small_run, "status", *SMALL)
    assert output.count("cached, ") == len(STAGES)
    output = ok(small_run, "status", *SMALL, "--set", "fit.n_lambdas=7")
    assert "fit.n_lambdas: 10 → 7" in output
    assert output.count("would run") == len(STAGES) - 1
    assert "would run: not run before" in ok(small_run, "status", *SMALL, "--store", "elsewhere")
    assert "--force" not in ok(small_run, "status", "--help")  # It runs nothing.
    assert "nothing can run" in ok(small_run, "status", *SMALL, "--set", "fit.mode=load", "--set", "fit.file=none.pt")
    assert not (small_run / "elsewhere").exists()


def test_what_is_damaged_is_not_counted_as_a_result_of_others(small_run):
    (fit,) = (path for path in (small_run / "data" / "fit").iterdir() if not path.name.startswith("."))
    shutil.copytree(fit, fit.with_name("0" * 16))
    output = ok(small_run, "status", *SMALL)
    assert "and 1 damaged one, which status --verify names" in output
    assert "of other configurations" not in output


def test_what_a_process_was_killed_over_is_no_damaged_result(small_run):
    """A folder has its manifest a moment before its name, and is removed by the next command that runs stages."""
    (fit,) = (path for path in (small_run / "data" / "fit").iterdir() if not path.name.startswith("."))
    shutil.copytree(fit, fit.with_name(f".tmp-{fit.name}-12345"))
    assert "damaged" not in ok(small_run, "status", *SMALL)


def test_what_depends_on_a_stage_that_is_made_again_is_kept_if_that_is_as_before(small_run):
    (path,) = (small_run / "data" / "fit").glob("*/datamodel.npz")
    path.unlink()
    lines = {line.split()[0]: line for line in ok(small_run, "status", *SMALL).splitlines()}
    assert lines["fit"].endswith("datamodel.npz is missing")
    assert lines["test"].endswith("; stays if fit is made again as before")
    assert states(ok(small_run, "run", *SMALL)) == {**dict.fromkeys(STAGES, "cached"), "fit": "running"}
