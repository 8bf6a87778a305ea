"""Runs of the stages: what is cached, what runs again and why, two processes on one store."""

import os
import resource
import shutil
import subprocess

import numpy as np
import pytest
from command_here import ok
from real_command import COMMAND, SMALL, STAGES, states, table
from real_command import ok as ok_alone

from datamodels_inf import PackedMasks, SquaredResidual, adjust_pvalues, contrast, swap_test
from datamodels_inf.lasso.prefixes import fit_lasso
from pipeline.sources.embedded import FOLDER as EMBEDDED


def test_the_default_run_gives_findings_and_a_report(default_run):
    folder, output = default_run
    assert states(output) == dict.fromkeys(STAGES, "running")
    assert output.count("not run before") == len(STAGES)
    home = folder / "reports" / "digits"
    tests, findings = table(home / "tests.csv"), table(home / "findings.csv")
    assert len(tests) == 2000
    assert 10 <= len(findings) <= 200  # The same order as METHOD's prototype.
    columns = "method i j target class_i class_j class_target statistic pvalue pvalue_adjusted finding theta_i theta_j"
    assert list(tests[0])[:16] == [*columns.split(), "effect", "effect_low", "effect_high"]
    assert len(list((home / "panels").glob("*.png"))) == min(50, len(findings))
    blind = [r for r in tests if r["theta_i"] == r["theta_j"]]
    assert blind
    assert all(("cannot see" in r["note"]) == (r in blind) for r in tests)
    page = (home / "index.html").read_text(encoding="utf-8")
    assert f"{len(findings)} of 2000 pairs" in page.replace(",", "")


def test_with_findings_too_the_method_that_sees_the_other_pairs_is_named(default_run):
    folder, output = default_run
    tests = table(folder / "reports" / "digits" / "tests.csv")
    blind = sum(r["theta_i"] == r["theta_j"] for r in tests)
    told = (
        f"The method contrast sees also the {blind} pairs that have equal weights (a second look: with test.alpha=0.1 "
        "each, both together keep the promise): datamodels-inf run --config digits --set test.method=contrast "
        "--set test.alpha=0.1"
    )
    assert f"; swap cannot see {blind} of 2,000 pairs" in output
    for text in (output, ok(folder, "findings")):
        assert f"{told}\n" in text
    page = (folder / "reports" / "digits" / "index.html").read_text(encoding="utf-8")
    assert told.rpartition(": ")[2] in page


def test_every_number_of_the_table_can_be_recomputed_from_the_source(default_run):
    """From masks and margins alone: fit, test and correct by hand, and get the rows of tests.csv."""
    rows = table(default_run[0] / "reports" / "digits" / "tests.csv")
    masks = PackedMasks(np.load(EMBEDDED / "masks.npy"), 400)
    margins = np.load(EMBEDDED / "margins.npy").astype(float)
    adjusted = adjust_pvalues([float(r["pvalue"]) for r in rows])
    held_out = masks[8000:].to_bool()
    fits = {}
    for number in range(0, 2000, 97):
        row = rows[number]
        i, j, target = int(row["i"]), int(row["j"]), int(row["target"])
        if target not in fits:
            fits[target] = fit_lasso(masks[:8000], margins[:8000, [target]])
        theta, bias, y = fits[target].weight[:, 0], fits[target].bias[0], margins[8000:, target]
        result = swap_test(held_out, y, i, j, score=SquaredResidual(theta, bias), rng=0)
        effect = contrast(held_out, y, i, j, theta=theta, bias=bias)
        for name, value in (
            ("statistic", result.statistic),
            ("pvalue", result.pvalue),
            ("pvalue_adjusted", adjusted[number]),
            ("theta_i", theta[i]),
            ("theta_j", theta[j]),
            ("effect", effect.estimate),
            ("effect_low", effect.interval[0]),
            ("effect_high", effect.interval[1]),
        ):
            assert float(row[name]) == pytest.approx(value, rel=1e-6, abs=1e-9), (number, name)
        assert (row["finding"] == "true") == (adjusted[number] <= 0.2)


def times_of_results(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "data").glob("*/**/*") if path.is_file()}


def test_a_second_run_does_no_work_and_says_so_quickly(default_run):
    folder, _ = default_run
    before = times_of_results(folder)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = ok_alone(folder, "run")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 3
    assert states(output) == dict.fromkeys(STAGES, "cached")
    assert times_of_results(folder) == before


def test_changing_alpha_decides_anew_and_tests_nothing(default_run):
    folder, _ = default_run
    output = ok(folder, "run", "--set", "test.alpha=0.1", "--set", "report.name=stricter")
    anew = dict.fromkeys(("prior", "influence", "report"), "running")
    assert states(output) == {**dict.fromkeys(STAGES, "cached"), **anew}
    assert "test.alpha: 0.2 → 0.1" in output
    loose, strict = (table(folder / "reports" / name / "findings.csv") for name in ("digits", "stricter"))
    assert 0 < len(strict) <= len(loose)
    assert all(float(row["pvalue_adjusted"]) <= 0.1 for row in strict)


def test_changing_the_design_keeps_the_fit(default_run):
    folder, _ = default_run
    output = ok(folder, "test", "--set", "test.repeats=2")
    assert states(output) == {"download": "cached", "fit": "cached", "test": "running"}
    assert "test.repeats: 20 → 2" in output


def test_threads_change_no_finding(tmp_path):
    results = []
    for threads in (1, 2):
        ok(
            tmp_path,
            "run",
            *SMALL,
            "--store",
            f"store{threads}",
            "--reports",
            f"reports{threads}",
            "--threads",
            threads,
        )
        results.append((tmp_path / f"reports{threads}" / "digits" / "tests.csv").read_bytes())
    assert results[0] == results[1]


@pytest.mark.parametrize(("stage", "name"), [
    ("download", "masks.npy"),
    ("download", "margins.npy"),
    ("fit", "datamodel.npz"),
    ("test", "tests.parquet"),
    ("atlas", "tile-000000.npy"),
    ("influence", "findings.npz"),
    ("report", "index.html"),
])  # fmt: skip
def test_a_changed_byte_in_the_store_is_noticed_named_and_mended(small_run, stage, name):
    expected = (small_run / "reports" / "digits" / "tests.csv").read_bytes()
    (path,) = (small_run / "data" / stage).glob(f"*/{name}")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    output = ok(small_run, "run", *SMALL)
    assert states(output)[stage] == "running"
    assert f"{name} is damaged: its checksum has changed" in output
    assert [s for s, state in states(output).items() if state == "running"] == [stage]
    assert (small_run / "reports" / "digits" / "tests.csv").read_bytes() == expected


def test_a_truncated_or_missing_file_is_noticed(small_run):
    (path,) = (small_run / "data" / "download").glob("*/margins.npy")
    os.truncate(path, 1000)
    assert "margins.npy is damaged: 1000 bytes" in ok(small_run, "run", *SMALL)
    (path,) = (small_run / "data" / "fit").glob("*/datamodel.npz")
    path.unlink()
    assert "datamodel.npz is missing" in ok(small_run, "run", *SMALL)


def test_a_harmed_report_is_put_back_and_foreign_files_are_left(small_run):
    home = small_run / "reports" / "digits"
    page = (home / "index.html").read_bytes()
    (home / "index.html").write_text("gone")
    (home / "notes.txt").write_text("mine")
    (home / "findings.csv").unlink()
    ok(small_run, "run", *SMALL)
    assert (home / "index.html").read_bytes() == page
    assert (home / "findings.csv").exists()
    assert (home / "notes.txt").read_text() == "mine"


def test_panels_of_an_older_report_go(default_run, tmp_path):
    shutil.copytree(default_run[0] / "data", tmp_path / "data")
    ok(tmp_path, "run")
    many = len(list((tmp_path / "reports" / "digits" / "panels").iterdir()))
    ok(tmp_path, "run", "--set", "report.max_panels=3")
    assert len(list((tmp_path / "reports" / "digits" / "panels").iterdir())) == 3 < many


def test_force_runs_a_cached_stage(small_run):
    output = ok(small_run, "run", *SMALL, "--force", "test")
    assert states(output) == {**dict.fromkeys(STAGES, "cached"), "test": "running"}
    assert "forced" in output
    assert ok(small_run, "run", *SMALL, "--quiet") == ""


def test_two_processes_on_one_store(tmp_path):
    both = [
        subprocess.Popen(
            [*COMMAND, "run", *SMALL], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    waited = next(out for out, _ in outputs if "waiting for process" in out)
    assert states(waited.partition("\n")[2]) == dict.fromkeys(STAGES, "cached")
