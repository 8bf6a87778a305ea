"""The fit stage: which targets are fitted, what changes its key, what it refuses."""

import pytest
from command_here import call, ok
from released_layout import FILES, released


def test_only_the_needed_targets_are_fitted(tmp_path):
    released(tmp_path / "cifar")
    output = ok(tmp_path, "run", *FILES, "--set", "fit.targets=needed")
    assert "4 targets, median held-out R²" in output
    everything = ok(tmp_path, "run", *FILES, "--set", "fit.targets=all", "--set", "report.name=all")
    assert "8 targets, median held-out R²" in everything
    for name in ("tests.csv", "findings.csv"):
        assert (tmp_path / "reports" / "digits" / name).read_text() == (tmp_path / "reports" / "all" / name).read_text()
    assert "test.target_class" in ok(
        tmp_path, "fit", *FILES, "--set", "fit.targets=needed", "--set", "test.target_class=cat"
    )


@pytest.mark.parametrize(("wanted", "count"), [("needed", 12), ('"7"', 12), ("[5, 2]", 2)])
def test_which_targets_are_fitted(tmp_path, wanted, count):
    output = ok(tmp_path, "fit", "--set", f"fit.targets={wanted}", "--set", "fit.n_lambdas=10")
    assert f"{count} targets" in output


def test_memory_and_threads_change_no_key(tmp_path):
    ok(tmp_path, "fit", "--set", "fit.n_lambdas=10")
    output = ok(tmp_path, "fit", "--set", "fit.n_lambdas=10", "--set", "fit.memory_gb=1", "--threads", "1")
    assert "running" not in output


@pytest.mark.parametrize(("setting", "sentence"), [
    ("fit.targets=dog", "fit.targets = 'dog' is no class of this data; there are 0, 1, 2"),
    ("fit.targets=3", "it must be \"needed\", \"all\", the name of a class in quotes, or a list"),
    ("fit.memory_gb=0.0005", "`memory_gb` must be at least 0.00"),
    ("fit.memory_gb=0", "fit.memory_gb"),
    ("fit.tolerance=0", "fit.tolerance"),
    ("fit.patience=0", "fit.patience"),
    ("fit.validation_rows=7999", "`validation_rows` must lie between 1 and 7998"),
])  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path, setting, sentence):
    done = call(tmp_path, "fit", "--set", setting)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("data/fit/[0-9a-f]*"))
