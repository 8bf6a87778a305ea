"""`status`: what is there, what would run, and why."""

from real_command import ok


def test_status_says_what_is_there_and_what_would_run_and_why(default_run):
    folder, _ = default_run
    output = ok(folder, "status")
    assert output.count("cached, ") == 4
    output = ok(folder, "status", "--set", "fit.n_lambdas=7")
    assert "fit.n_lambdas: 100 → 7" in output
    assert output.count("would run") == 3
    assert "would run: not run before" in ok(folder, "status", "--store", "elsewhere")
    assert "fit" in ok(folder, "status", "--force", "fit").partition("forced")[0].splitlines()[-1]
    assert "nothing can run" in ok(folder, "status", "--set", "fit.mode=load", "--set", "fit.file=none.pt")
    assert not (folder / "elsewhere").exists()
