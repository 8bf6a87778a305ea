"""examples/train_own_function.py: models of scikit-learn find the rows whose labels were flipped."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_rows_that_lower_the_margin_most_are_those_with_a_flipped_label(tmp_path):
    """With fewer models than by default; of 200 rows, 8 are flipped, so that by chance none would be among five."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    example = [sys.executable, str(ROOT / "examples" / "train_own_function.py"), "600"]
    done = subprocess.run(example, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[-8:]]
    assert [row[-1] for row in rows[:5]] == ["flipped"] * 5
    assert all(row[5] == "true" and float(row[4]) < 0 for row in rows[:5])
    assert (tmp_path / "mislabelled" / "reports" / "models" / "index.html").is_file()


def test_a_folder_that_is_there_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "mislabelled").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train_own_function.py"])
    with pytest.raises(SystemExit, match="mislabelled is there already: remove it, or run this in another folder"):
        runpy.run_path(str(ROOT / "examples" / "train_own_function.py"), run_name="__main__")
    assert not list((tmp_path / "mislabelled").iterdir())
