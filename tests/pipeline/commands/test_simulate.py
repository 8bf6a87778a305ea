"""`simulate`: what it writes, what it says, how it ends."""

import csv
import signal
import subprocess

import numpy as np
import pytest
from command_here import call
from real_command import COMMAND
from warm import call as call_alone


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    out = tmp_path_factory.mktemp("simulation") / "new" / "folder"
    return out, call_alone(".", "simulate", "power", "--reps", 30, "--seed", 1, "--out", out)


def test_simulate_writes_figures_tables_and_says_so(simulation):
    out, done = simulation
    assert (done.returncode, done.stderr) == (0, "")
    methods = ("swap", "swap-exact", "paired-hoeffding", "paired", "paired-signed-rank")
    expected = {*(f"power_{m}.png" for m in methods), "power_gain.png", "rates.csv", "summary.md"}
    assert {p.name for p in out.iterdir()} == expected
    assert f"Wrote {len(expected)} files to {out}:" in done.stdout
    for name in expected:
        assert f"  {name}" in done.stdout
        assert (out / name).stat().st_size > 500
        assert not name.endswith(".png") or (out / name).read_bytes().startswith(b"\x89PNG")


def test_rates_have_standard_errors_and_theory(simulation):
    rows = list(csv.DictReader((simulation[0] / "rates.csv").read_text().splitlines()))
    assert len(rows) == 3 * 5 * 45
    for row in rows:
        rate = float(row["rate"])
        assert float(row["standard_error"]) == pytest.approx(np.sqrt(rate * (1 - rate) / 30), rel=0.01)
        assert (row["theory"] == "") == (row["method"] == "paired-signed-rank")
    best = next(r for r in rows if (r["method"], r["sigma"], r["i"], r["j"]) == ("swap", "1", "1", "10"))
    assert float(best["theory"]) == pytest.approx(0.984, abs=0.02)


def test_summary_sets_the_paper_beside_ours(simulation):
    text = (simulation[0] / "summary.md").read_text()
    for printed in ("0.987", "0.768", "0.543", "0.294", "0.097", "0.055"):
        assert printed in text
        assert printed in simulation[1].stdout


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")
def test_simulate_is_reproducible(simulation, tmp_path, monkeypatch):
    """Figures are drawn of the rates, which are compared; to draw them takes ten seconds."""
    monkeypatch.setattr("pipeline.commands.simulate._draw", lambda *given: [])
    call(".", "simulate", "power", "--reps", 30, "--seed", 1, "--out", tmp_path, "--threads", 1, "--quiet")
    assert (tmp_path / "rates.csv").read_text() == (simulation[0] / "rates.csv").read_text()
    other = tmp_path / "other"
    call(".", "simulate", "power", "--reps", 30, "--seed", 2, "--out", other, "--quiet")
    assert (other / "rates.csv").read_text() != (simulation[0] / "rates.csv").read_text()


def test_out_that_is_a_file_is_kept(tmp_path):
    file = tmp_path / "precious.txt"
    file.write_text("mine")
    for out in (file, file / "below"):
        done = call(".", "simulate", "size", "--reps", 1, "--out", out)
        assert done.returncode == 2
        assert str(out) in done.stderr
        assert done.stderr.count("\n") == 1
    assert file.read_text() == "mine"


# The command, which also says when a repetition is done.
AT_WORK = """
import pipeline.commands.simulate as s
run = s.run
s.run = lambda *a, progress, **k: run(*a, progress=lambda n: print(n, flush=True), **k)
"""


def test_interrupt_leaves_nothing_half_written(tmp_path):
    process = subprocess.Popen(
        [*COMMAND[:2], AT_WORK + COMMAND[2], "simulate", "mixture", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "1\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert "Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []
