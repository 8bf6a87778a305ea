"""The wheel, installed with its declared dependencies into an empty environment elsewhere, works."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, so that nothing is left in the work tree."""
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns(".git", ".venv", "data", "reports", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder / "dist",
        folder / "source",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (built,) = (folder / "dist").glob("*.whl")
    return built


def test_wheel_holds_both_packages_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"datamodels_inf", "pipeline"}
    assert "datamodels_inf/py.typed" in names
    assert "pipeline/configs/digits.toml" in names
    assert "pipeline/embedded/digits/margins.npy" in names
    assert {f"pipeline/report/templates/{name}" for name in ("page.html.j2", "style.css", "script.js")} <= set(names)
    assert any(name.endswith("LICENSE") for name in names)


def test_wheel_works_in_an_empty_environment(wheel, tmp_path):
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt"]
    subprocess.run([*pip, wheel], check=True, capture_output=True, timeout=900)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for words in (("run",), ("simulate", "size", "--reps", "3", "--out", "out")):
        command = [environment / "bin" / "datamodels-inf", *words]
        done = subprocess.run(command, cwd=elsewhere, env=clean, capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stderr) == (0, "")
    assert (elsewhere / "reports" / "digits" / "index.html").exists()
    assert (elsewhere / "out" / "size_swap.png").exists()
    code = "import datamodels_inf; print(datamodels_inf.__file__)"
    where = subprocess.check_output([environment / "bin" / "python", "-c", code], cwd=elsewhere, env=clean, text=True)
    assert where.startswith(str(environment))


def test_no_cuda_package_is_installed():
    """`make demo` and `make test` take the CPU build of torch."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("not in the environment that the Makefile makes")
    names = {d.name.lower() for d in distributions()}
    assert not [n for n in names if n.startswith(("nvidia-", "cuda-")) or n in ("triton", "pytorch-triton")]
