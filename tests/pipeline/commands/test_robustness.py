"""`robustness`: the table it prints, and what cannot be asked together."""

import json

import pyarrow
import pytest
from clustered_images import settings
from command_here import call, ok
from pyarrow import parquet

from pipeline.commands.robustness import QUESTION, asked_settings, robustness_lines
from pipeline.config_files import load_config
from pipeline.store.cache import Result
from pipeline.summaries import AgreementSummary, CaseSummary, LookAlikesSummary, RobustnessSummary
from pipeline.text.rerun_roles import COMPARED


def test_the_command_prints_the_table_and_a_second_run_is_cached(clusters, tmp_path):
    options = [word for setting in settings(clusters / "alike") for word in ("--set", setting)]
    command = ("robustness", *options, "--pair", "cat:3", "7", "--n-targets", "2", "--neighbours", "3")
    out = ok(tmp_path, *command)
    assert "Pair: training image 3 against 7, contrast, by pixels" in out
    assert "valid if the pair was chosen before looking at these models" in out
    (manifest,) = (tmp_path / "data" / "robustness").glob("*/manifest.json")
    case = json.loads(manifest.read_text())["summary"]["cases"][0]
    lines = out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:2] == ["i", "j"])
    assert lines[head].split()[2:] == [word for t in case["targets"] for word in ("target", str(t))]
    assert lines[head + 1].split()[:2] == ["3", "7"]
    near = zip(case["near"]["i"]["images"], case["near"]["j"]["images"], strict=True)
    assert [line.split()[:2] for line in lines[head + 2 : head + 5]] == [[str(i), str(j)] for i, j in near]
    same_sign = case["agreement"]["neighbour"]["same_sign"]
    assert any(
        line.split()[-4:-2] == [f"{100 * same_sign:.0f}", "%"] for line in lines if "look-alikes of both images" in line
    )
    assert "robustness cached" in ok(tmp_path, *command)
    finding = ok(tmp_path, "robustness", *options, "--finding", "2", "--quiet")
    assert finding.startswith("Finding 2: ")
    assert "Follow-up" in finding
    both = call(tmp_path, "robustness", *options, "--finding", "2", "--pair", "1", "2")
    assert both.returncode == 2
    assert "--finding and --pair cannot both be given" in both.stderr


def asked_of(*overrides, **asked):
    """The section [robustness] of a question."""
    given = dict.fromkeys(QUESTION) | {"split": False} | asked
    return load_config("digits", asked_settings("digits", overrides, given)).robustness


@pytest.mark.parametrize("configured", ("robustness.top=2", "robustness.findings=[3]", "robustness.pair=[4, 5]"))
def test_a_question_takes_the_place_of_what_the_configuration_names(configured):
    """Only one of the three may be set, and the configuration has one already."""
    finding, pair = asked_of(configured, finding=6), asked_of(configured, pair=("7", "dog:8"))
    assert (finding.top, finding.findings, finding.pair) == (0, [6], [])
    assert (pair.top, pair.findings, pair.pair) == (0, [], [7, "dog:8"])


def test_without_a_question_it_is_that_of_the_configuration_or_the_first_finding():
    assert asked_of().findings == [1]
    asked = asked_of("robustness.top=2", neighbours=3)
    assert (asked.top, asked.findings, asked.neighbours) == (2, [], 3)


def test_so_many_targets_are_chosen_though_the_configuration_names_some():
    asked = asked_of("robustness.targets=[1, 2]", n_targets=3)
    assert (asked.targets, asked.n_targets) == ([], 3)


@pytest.mark.parametrize("name", ("it's", "C:\\a", 'say "b"', "1e5"))
def test_names_and_paths_are_taken_as_they_are_typed(name):
    assert asked_of(pair=(name, "3")).pair == [name, 3]
    asked = asked_of(embeddings=name)
    assert (str(asked.embeddings), asked.metric) == (name, "features")


def test_a_pvalue_that_underflowed_is_not_printed_as_0(tmp_path):
    """In a cell, and in a median of such p-values."""
    near = LookAlikesSummary(images=(4,), distances=(0.1,), near_copies=(), typical=2.5)
    agreed = AgreementSummary(n=1, same_sign=1.0, effects=None, pvalues=None)
    case = CaseSummary(
        finding=1, i=3, j=7, targets=(5, 6), near={"i": near, "j": near},
        agreement={role.name: agreed for role in COMPARED},
    )  # fmt: skip
    summary = RobustnessSummary(method="swap", metric="pixels", split=False, n_held_out=9, n_tests=5, cases=(case,))
    tests = [("original", 3, 7, 5, 0.0), ("original", 3, 7, 6, 0.012345), ("neighbour", 4, 4, 5, 3e-300),
             ("random", 1, 2, 5, 0.0), ("random", 1, 2, 5, 0.0)]  # fmt: skip
    rows = [{"case": 0, "role": role, "i": i, "j": j, "of": of, "pvalue": p} for role, i, j, of, p in tests]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "reruns.parquet")
    lines = [line.split() for line in robustness_lines(Result(tmp_path, {"summary": summary.as_json()}))]
    assert ["3", "7", "<1e-300", "0.012"] in lines
    assert ["4", "4", "3e-300"] in lines
    assert ["median:", "random", "images", "of", "the", "same", "classes", "<1e-300"] in lines
    assert not [line for line in lines if "0" in line]
