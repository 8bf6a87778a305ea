"""The recipes of docs/adding.md, followed: a toy entry in each table is seen on the command line, in the configuration
and in the report, and no other file knows of it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

ENTRIES = '''
from dataclasses import replace
from pathlib import Path

import numpy as np

from datamodels_inf.designs import DESIGNS, Design
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.methods import METHODS, Method
from datamodels_inf.multiplicity import CORRECTIONS
from datamodels_inf.training import NETWORKS
from pipeline.sources import SOURCES, SourceKind
from pipeline.sources.array_files import Files, copy_files
from pipeline.sources.base import Arrived
from pipeline.sources.imports import IMPORTERS
from pipeline.sources.imports.base import Converted, Importer
from pipeline.sources.layouts import LAYOUTS, Layout
from pipeline.sources.mask_rows import NumberRows
from pipeline.sources.opened import Opened
from pipeline.sources.outcome_rows import OutcomeRows


def toy_test(tests):
    """As the paired test."""
    return METHODS["paired"].test(tests)


def toy_pairs(request):
    """Images 2k and 2k + 1 on every target."""
    triples = [(2 * k, 2 * k + 1, t) for t in request.targets.tolist() for k in range(10)]
    return Pairs.of_triples(np.array(triples), "toy pairs")


def bring(run):
    """Margins that images 0 and 1 pull in opposite directions."""
    rng = np.random.default_rng(0)
    masks = np.argsort(rng.random((1200, 20)), axis=1) < 10
    margins = (masks[:, :1] * 1.0 - masks[:, 1:2] + 0.1 * rng.standard_normal((1200, 3))).astype(np.float16)
    np.save(run.out / "toy_masks.npy", masks)
    np.save(run.out / "toy_margins.npy", margins)
    return Arrived(copy_files(run, Files(run.out / "toy_masks.npy", run.out / "toy_margins.npy", None, None)), None)


METHODS["toy"] = replace(METHODS["paired"], name="toy", title="a toy of a test", test=toy_test)
CORRECTIONS["toy"] = replace(CORRECTIONS["bonferroni"], name="toy", title="Toy of a correction")
DESIGNS["toy"] = Design("toy", "a toy of a design", ("targets",), "chosen", toy_pairs)
SOURCES["toy"] = SourceKind("toy", "a toy of a source", (), lambda config: {"toy": 1}, bring)


def toy_folder(source):
    """masks.txt and outcomes.txt, as numbers."""
    masks, outcomes = (np.loadtxt(source.folder / name, ndmin=2) for name in ("masks.txt", "outcomes.txt"))
    forms = NumberRows("masks.txt", masks), OutcomeRows("outcomes.txt", outcomes)
    return Opened("masks.txt", *forms, np.arange(len(masks)), outcome="toy")


LAYOUTS["toy"] = Layout(
    "toy", "a toy of a layout", "masks.txt", lambda source: (source.folder / "masks.txt").is_file(),
    lambda source: {"toy": 1}, toy_folder, lambda source: False,
)
IMPORTERS["toy"] = Importer(
    "toy", "a toy of a format", lambda path: path.suffix == ".toy",
    lambda path: Converted([np.array([0, 1]), np.array([1, 2])], outcomes=np.ones((2, 1))),
)
NETWORKS["toy"] = replace(NETWORKS["softmax"], name="toy", title="a toy of a network")

from pipeline.stages import STAGES
from pipeline.stages.base import Stage
from pipeline.summaries import Summary


class ToySummary(Summary):
    n_seen: int

    def describe(self):
        return f"{self.n_seen} tests seen by the toy"


def toy_stage(run):
    from pipeline.summaries import TestSummary, read_summary

    n_seen = read_summary(run.inputs["test"], TestSummary).n_tests
    (run.out / "toy.txt").write_text(str(n_seen))
    return ToySummary(n_seen=n_seen)


report = STAGES.pop("report")
STAGES["toy"] = Stage("toy", 1, ("test",), ToySummary, toy_stage, lambda config: {})
STAGES["report"] = replace(report, inputs=(*report.inputs, "toy"))
'''
COMMANDS = """
import contextlib
import io
import json
import sys

from pipeline.cli import main

answers = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["datamodels-inf", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            answers.append((stop.code or 0, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""
SETTINGS = (
    "source.kind=toy",
    "source.fit_rows=700",
    "source.held_out_rows=500",
    "test.design=toy",
    "test.targets=all",
    'test.method=["toy", "contrast"]',
    "test.correction=toy",
    "fit.n_lambdas=5",
    "report.name=toy",
)


CONFIG = [word for setting in SETTINGS for word in ("--set", setting)]
CHOICES = ("test.method", "test.correction", "test.design", "source.kind")
CALLS = {
    "run": ["run", *CONFIG],
    "findings": ["findings", *CONFIG, "--method", "toy"],
    "compare": ["compare", *CONFIG],
    "forced": ["run", *CONFIG, "--force", "toy"],
    "status": ["status", *CONFIG],
    "train": ["train", "--architecture", "toy", "--models", "4", "--out", "models", "--steps", "2", "--workers", "1"],
    "init": ["init", "texts"],
    "import": ["import", "--from", "toy", "file.toy", "imported"],
    **{f"{command} --help": [command, "--help"] for command in ("run", "findings", "train", "import")},
    **{f"{setting}=none": ["run", "--set", f"{setting}=none"] for setting in CHOICES},
}


def call(folder, calls, entries):
    """{name: (exit code, output, errors)} of some commands, one after the other in one process."""
    (folder / "sitecustomize.py").write_text(entries)  # Runs first in every process, those that train as well.
    command = [sys.executable, "-c", COMMANDS, json.dumps(list(calls.values()))]
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(calls, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("toy")


@pytest.fixture(scope="module")
def answers(folder):
    """With toy entries in the tables."""
    (folder / "texts").mkdir()
    rng = np.random.default_rng(0)
    np.savetxt(folder / "texts" / "masks.txt", np.argsort(rng.random((100, 8)), axis=1) < 4, fmt="%d")
    np.savetxt(folder / "texts" / "outcomes.txt", rng.standard_normal(100))
    (folder / "file.toy").touch()
    return call(folder, CALLS, ENTRIES)


def test_source_design_and_stage_run(folder, answers):
    code, said, errors = answers["run"]
    assert code == 0, errors
    assert "1,200 models × 20 images, 3 targets" in said
    assert "30 pairs by toy, contrast" in said
    assert "30 tests seen by the toy" in said
    assert [path.read_text() for path in folder.glob("data/toy/*/toy.txt")] == ["30"]
    manifest = json.loads(next(folder.glob("data/test/*/manifest.json")).read_text())
    assert manifest["summary"]["design"]["n_of_kind"] == {"toy pairs": 30}


def test_method_and_correction_are_in_the_report(folder, answers):
    page = (folder / "reports/toy/index.html").read_text()
    assert "Toy of a correction" in page and 'id="toy-1"' in page
    report = json.loads((folder / "reports/toy/report.json").read_text())
    assert [method["method"] for method in report["methods"]] == ["toy", "contrast"]
    assert {(f["i"], f["j"]) for f in report["methods"][0]["findings"]} == {(0, 1)}
    assert list((folder / "reports/toy/panels").glob("toy-001.png"))


def test_commands_know_them(folder, answers):
    assert "toy: 3 of 30 pairs" in answers["findings"][1] and "Toy of a correction" in answers["findings"][1]
    assert "also toy" in answers["compare"][1]
    assert "toy       running  forced" in answers["forced"][1]
    assert "toy       " in answers["status"][1]
    assert "|toy" in answers["findings --help"][1]  # --method
    assert " toy" in answers["run --help"][1]  # --force
    assert "|toy" in answers["train --help"][1]  # --architecture


@pytest.mark.parametrize("setting", CHOICES)
def test_the_configuration_offers_them(answers, setting):
    code, _, errors = answers[f"{setting}=none"]
    assert code == 2 and "or 'toy'" in errors


def test_a_layout_is_looked_at(folder, answers):
    code, said, errors = answers["init"]
    assert code == 0, errors
    assert "texts: a toy of a layout (toy)" in said and "It can run: 1 target is fitted" in said


def test_a_format_is_imported(folder, answers):
    assert answers["import"][0] == 0, answers["import"][2]
    assert np.load(folder / "imported" / "indices.npy").tolist() == [[0, 1], [1, 2]]
    assert "|toy" in answers["import --help"][1]


def test_a_network_trains(folder, answers):
    assert answers["train"][0] == 0, answers["train"][2]
    assert json.loads((folder / "models/manifest.json").read_text())["job"]["recipe"]["architecture"] == "toy"


def test_without_an_entry_there_is_no_toy(tmp_path):
    """What the other tests see comes from the entries."""
    refused = call(tmp_path, {name: ["run", "--set", f"{name}=toy"] for name in CHOICES}, entries="")
    assert [code for code, _, _ in refused.values()] == [2] * len(CHOICES)
