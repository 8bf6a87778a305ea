"""The wheel, in an environment elsewhere that has its declared dependencies and nothing else, works.

Nothing is downloaded for that: the dependencies are those of this environment, linked one by one.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import HeaderParser
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import ROOT
from progress_lines import without_progress
from source_tree import source_files


@pytest.fixture(scope="module")
def distributions_of_this_tree(tmp_path_factory):
    """(source distribution, wheel), the wheel made from the other one; from a copy, so that the tree stays as it is."""
    folder = tmp_path_factory.mktemp("built")
    for name in source_files():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / "source" / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "source"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (sdist,), (wheel,) = ((folder / "dist").glob(pattern) for pattern in ("*.tar.gz", "*.whl"))
    return sdist, wheel


@pytest.fixture(scope="module")
def wheel(distributions_of_this_tree):
    return distributions_of_this_tree[1]


def test_wheel_holds_both_packages_whole_and_nothing_else(wheel):
    """Every file of the two packages, and the configurations beside them: no tests, no benchmarks."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    packages = {name for name in source_files() if name.startswith(("datamodels_inf/", "pipeline/"))}
    configs = {f"pipeline/{name}" for name in source_files() if name.startswith("configs/")}
    assert names == packages | configs
    assert {"datamodels_inf/py.typed", "pipeline/py.typed", "pipeline/configs/digits.toml"} <= names
    assert {"pipeline/embedded/digits/margins.npy", "pipeline/embedded/cifar10-study/margins.npz"} <= names
    assert {f"pipeline/report/templates/{name}" for name in ("page.html.j2", "style.css", "script.js")} <= names


def test_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as content:
        named = {name.partition(".dist-info/")[2]: name for name in content.namelist() if ".dist-info/" in name}
        said = HeaderParser().parsestr(content.read(named["METADATA"]).decode())
        commands = content.read(named["entry_points.txt"]).decode()
    assert "licenses/LICENSE" in named
    assert said["Requires-Python"] == ">=3.11" and said["License-Expression"] == "MIT"
    assert "Typing :: Typed" in said.get_all("Classifier")
    assert "datamodels-inf = pipeline.cli:main" in commands


def test_source_distribution_is_the_whole_tree(distributions_of_this_tree):
    """So that `make demo` and `make test` work in it."""
    with tarfile.open(distributions_of_this_tree[0]) as content:
        names = {member.name.partition("/")[2] for member in content if member.isfile()}
    assert names - {"PKG-INFO"} == set(source_files())


def required(wheel):
    """The distributions that a plain installation of the wheel brings, with those that they require in turn."""
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        declared = HeaderParser().parsestr(content.read(name).decode()).get_all("Requires-Dist")
    found, todo = {}, [(Requirement(text), ()) for text in declared]
    while todo:
        requirement, extras = todo.pop()
        if requirement.marker and not any(requirement.marker.evaluate({"extra": e}) for e in ("", *extras)):
            continue
        name = canonicalize_name(requirement.name)
        there = distribution(name)
        assert requirement.specifier.contains(there.version, prereleases=True), requirement
        if (name, *sorted(requirement.extras)) not in found:
            found[name, *sorted(requirement.extras)] = there
            todo += [(Requirement(text), tuple(requirement.extras)) for text in there.requires or ()]
    return {there.name: there for there in found.values()}.values()


def link_into(site, there):
    """All of a distribution's files and folders of the first level, but not its programs."""
    for name in {file.parts[0] for file in there.files if file.parts[0] not in ("..", "__pycache__")}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(there.locate_file(name)).resolve())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    for there in required(wheel):
        link_into(site, there)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", wheel], check=True, capture_output=True, timeout=300)
    subprocess.run([*pip[:5], "check"], check=True, capture_output=True, timeout=300)
    take_over_compiled_code(site)
    return folder


def take_over_compiled_code(site):
    """What was compiled here, is not compiled again there: it is taken for valid only if all sources are the same."""
    for path in (ROOT / "datamodels_inf").rglob("*.nb[ci]"):
        shutil.copy2(path, site / path.relative_to(ROOT))
    for path in (ROOT / "datamodels_inf").rglob("*.py"):
        shutil.copystat(path, site / path.relative_to(ROOT))


def test_wheel_works_in_an_empty_environment(environment, tmp_path):
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for words in (("run",), ("simulate", "size", "--reps", "3", "--out", "out")):
        command = [environment / "bin" / "datamodels-inf", *words]
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=240)
        assert (done.returncode, without_progress(done.stderr)) == (0, "")
    assert (tmp_path / "reports" / "digits" / "index.html").exists()
    assert (tmp_path / "out" / "size_swap.png").exists()
    code = "import datamodels_inf; print(datamodels_inf.__file__)"
    where = subprocess.check_output([environment / "bin" / "python", "-c", code], cwd=tmp_path, env=clean, text=True)
    assert where.startswith(str(environment))


def test_what_is_not_declared_is_not_there(environment):
    """So that the test above fails where a dependency is used but not declared."""
    for name in ("pytest", "moto", "playwright", "mypy"):
        done = subprocess.run([environment / "bin" / "python", "-I", "-c", f"import {name}"], capture_output=True)
        assert b"No module named" in done.stderr, name


def test_no_cuda_package_is_installed():
    """`make demo` and `make test` take the CPU build of torch."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("not in the environment that the Makefile makes")
    names = {d.name.lower() for d in distributions()}
    assert not [n for n in names if n.startswith(("nvidia-", "cuda-")) or n in ("triton", "pytorch-triton")]
