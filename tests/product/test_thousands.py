"""Counts in lines for a terminal have their thousands apart: 310,000 and not 310000."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from command_here import ok
from own_folders import write

ROOT = Path(__file__).parents[2]
COUNT = re.compile(
    r"(len\(.*\)|sum\(.*\)|(\w+\.)*(n_\w+|size|count|kept|total|n)|max\(0, .*\)|.*\.shape\[\d\])( [-+] [\w.()]+)?"
)
"""An expression that counts something, by its name."""
MAY_BE_BARE = re.compile(
    r"( = |--\w+ |shape \(|, |0\.\.|from 0 to |between 0 and |between 1 and | → size |split evenly between )$"
)
"""Words before a number that is a setting as it is typed, a shape, the end of a range, or a few."""
ELSEWHERE = (
    "pipeline/report/",
    "pipeline/text/numbers.py",
    "pipeline/commands/simulate.py",
    "pipeline/images/cifar10.py",
)
"""The page has spaces between thousands; the simulations and the original batches have numbers of their own."""
FEW = {"len(names)", "len(files)", "len(sizes)", "len(packed)", "len(nearest) - MOST_CHANGES", "len(CLASS_NAMES)"}
"""Files, changes and classes: never thousands."""


def bare_counts(source):
    """The counts in f-strings of `source` that are written without separators."""
    for node in ast.walk(ast.parse(source)):
        for place, part in enumerate(node.values if isinstance(node, ast.JoinedStr) else ()):
            if isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1:
                text, before = ast.unparse(part.value), node.values[place - 1] if place else None
                words = before.value if isinstance(before, ast.Constant) else ""
                if COUNT.fullmatch(text) and text not in FEW and not MAY_BE_BARE.search(words):
                    yield f"line {part.lineno}: {words[-20:]}{{{text}}}"


def test_no_line_is_built_with_a_bare_count():
    files = (ROOT / "pipeline").rglob("*.py")
    files = [path for path in files if not path.relative_to(ROOT).as_posix().startswith(ELSEWHERE)]
    files.append(ROOT / "datamodels_inf" / "exchangeability.py")
    assert len(files) > 100
    bare = {path: list(bare_counts(path.read_text(encoding="utf-8"))) for path in files}
    assert not {path: found for path, found in bare.items() if found}


@pytest.mark.parametrize(
    ("line", "seen"),
    (
        ('f"there are {n_models} models"', True),
        ('f"{len(rows)} of {count} rows"', True),
        ('f"{self.summary.n_tests} tests"', True),
        ('f"there are {n_models:,} models"', False),
        ('f"source.fit_rows = {n_fit}"', False),
        ('f"of shape ({n_models}, {n_targets})"', False),
        ('f"in {folder}"', False),
    ),
)
def test_a_bare_count_is_seen(line, seen):
    assert bool(list(bare_counts(line))) == seen


BARE = re.compile(r"(?<![\w.,/-])\d{5,}(?![\w.]*[a-z])")
"""A number of five digits or more: not a part of a key, of a path, of a decimal or of a number with separators."""
NAMES = re.compile(r"\b(train|target|image|item)s? \d+|--set \S+|\S+=\S+|\S*/\S*")
"""Images by number, settings as they are typed, and paths."""


def bare_numbers(output):
    """What of a command's output has no separators."""
    return [line for line in output.splitlines() if BARE.search(NAMES.sub("", line))]


@pytest.mark.parametrize(
    ("line", "bare"),
    (
        ("download  running  310000 models", True),
        ("of 12000.", True),
        ("          done     0123456789012345  12,000 models; 1.2 MB, 0.1 s", False),
        ("          done     dcfad385a6f1ae5f  12,000 models", False),
        ("effect 0.123456, p = 1.23456e-07", False),
        ("a dog (train 12345) against train 23456", False),
        ("fit  running  source.fit_rows=300000", False),
    ),
)
def test_a_bare_number_is_seen(line, bare):
    assert bool(bare_numbers(re.sub(r"\b[0-9a-f]{16}\b", "KEY", line))) == bare


def test_a_run_on_many_models_and_pairs_prints_none(tmp_path):
    """12,000 models of which 11,000 test 13,680 pairs: what is printed of them, and afterwards."""
    rng = np.random.default_rng(0)
    masks = rng.permuted(np.tile(np.arange(96) < 48, (12_000, 1)), axis=1)
    theta = np.zeros((96, 3))
    theta[:2] = 1.0
    write(tmp_path / "own", masks @ theta + rng.standard_normal((12_000, 3)), masks=masks)
    np.save(tmp_path / "theta.npy", theta)
    settings = (
        "source.kind=files", "source.folder=own", "source.fit_rows=1000", "source.held_out_rows=11000",
        "fit.mode=load", "fit.file=theta.npy", "fit.calibrate=true", "test.design=grid", "test.method=contrast",
        f"test.images={list(range(96))}", "test.targets=all", "test.target_class=", "test.repeats=",
        "atlas.targets=all", "report.name=many", "report.max_panels=0",
    )  # fmt: skip
    words = [word for setting in settings for word in ("--set", setting)]
    expected = {"check": "11,000", "run": "13,680", "status": "12,000", "findings": "13,680", "influence": "11,000"}
    for command, number in expected.items():
        more = ("--target", "0") if command == "influence" else ()
        output = ok(tmp_path, command, *words, *more)
        assert number in output, command
        assert not bare_numbers(re.sub(r"\b[0-9a-f]{16}\b", "KEY", output)), command
