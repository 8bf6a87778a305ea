"""A finished test stage as commands read it: families, promises, and stages that are asked for."""

import re

import pytest
from command_here import call, ok
from three_methods import SETTINGS, key, longer, parsed


def test_alpha_and_correction_decide_without_a_new_run(folder, rows):
    before = sorted(p.name for p in (folder / "data").glob("*/**/*"))
    strict = parsed(ok(folder, "findings", *SETTINGS, "--csv", "--set", "test.alpha=0.001"))
    assert {key(r) for r in strict} == {key(r) for r in rows if r["adjusted"] <= 0.001}
    bonferroni = parsed(ok(folder, "findings", *SETTINGS, "--csv", "--set", "test.correction=bonferroni"))
    assert {key(r) for r in bonferroni} == {key(r) for r in rows if r["pvalue"] * 500 <= 0.2}
    assert sorted(p.name for p in (folder / "data").glob("*/**/*")) == before


def test_what_the_intervals_promise_follows_the_correction(folder, rows):
    ask = ("findings", *SETTINGS, "--method", "contrast")
    everywhere = longer(min((r for r in rows if r["method"] == "contrast"), key=lambda r: r["pvalue"]), 0.2 / 500)
    for correction in ("holm", "bonferroni"):
        lines = ok(folder, *ask, "--set", f"test.correction={correction}").splitlines()
        promise = (
            "the chance that any interval misses the effect is at most 0.2, however the tests depend on each other"
        )
        assert lines[1].endswith(f"As a finding (99.96 %): {promise}")
        assert lines[3].endswith(f"  {everywhere[0]:.3g} to {everywhere[1]:.3g}")
    lines = ok(folder, *ask, "--set", "test.correction=bh", "--set", "test.alpha=0.5").splitlines()
    assert "advance. It holds for findings too: the expected share of findings whose interval misses" in lines[1]
    one, two = re.findall(r"\S+ to \S+", lines[3])
    assert one == two
    assert "as one of" not in lines[4]


@pytest.mark.parametrize("command", ("findings", "compare"))
def test_a_stage_that_was_not_run_is_asked_for_and_not_run(folder, tmp_path, command):
    done = call(tmp_path, command, "--set", "test.repeats=7", "--store", "my store")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "datamodels-inf: the download stage of this configuration is not in my store (not run before); first run: "
        "datamodels-inf test --config digits --set test.repeats=7 --store 'my store'\n"
    )
    assert list(tmp_path.iterdir()) == []
    done = call(folder, command, *SETTINGS, "--set", "test.seed=9")
    assert done.returncode == 2
    assert "the test stage of this configuration is not in data (test.seed: 0 → 9)" in done.stderr
