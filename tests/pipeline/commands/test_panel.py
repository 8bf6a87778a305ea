"""Any finding of a finished report can be drawn; nothing is run for it, and what is not there is said."""

import shutil

import pytest
from command_here import call, ok
from PIL import Image
from real_command import NAMED

METHODS = 'test.method=["swap", "contrast"]'
SHORT = ("--set", "test.repeats=2", "--set", "fit.n_lambdas=10", "--set", "report.max_panels=3", *NAMED)
ASKED = (*SHORT, "--set", METHODS)
HOME = "reports/digits/panels"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("panel")
    ok(folder, "run", *ASKED)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "own")
    return tmp_path / "own"


def test_a_finding_without_a_panel_is_drawn_beside_the_others(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert not (folder / HOME / "contrast-005.png").exists()
    said = ok(folder, "panel", *ASKED, "--finding", "contrast-5", "--finding", "contrast-2", "--finding", "contrast-5")
    assert said.splitlines() == [f"{HOME}/contrast-005.png", f"{HOME}/contrast-002.png"]
    with Image.open(folder / HOME / "contrast-005.png") as drawn, Image.open(folder / HOME / "contrast-001.png") as own:
        assert drawn.width == own.width
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    changed = {path.name for path in after if before.get(path) != after[path]}
    assert changed - {".hashed.json"} == {"contrast-005.png", ".files"}  # A panel of the page is drawn just as it was.


def test_a_drawn_panel_stays_with_its_report_and_goes_with_it(folder):
    ok(folder, "panel", *ASKED, "--finding", "contrast-5")
    ok(folder, "run", *ASKED)
    ok(folder, "run", *ASKED)
    assert (folder / HOME / "contrast-005.png").is_file()
    ok(folder, "run", *ASKED, "--set", "test.alpha=0.05")
    assert not (folder / HOME / "contrast-005.png").exists()


def test_a_folder_of_ones_own_needs_no_published_report(folder):
    shutil.rmtree(folder / "reports")
    done = call(folder, "panel", *ASKED, "--finding", "swap-1")
    assert done.returncode == 2
    assert "reports/digits does not hold this report" in done.stderr
    assert "datamodels-inf run --config digits --set" in done.stderr
    assert ok(folder, "panel", *ASKED, "--finding", "swap-1", "--out", "mine") == "mine/swap-001.png\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("contrast-99999", "--finding contrast-99999: there are "),
        ("contrast-0", "--finding contrast-0: there are "),
        ("magic-1", "--finding magic-1 is no name of a finding: it is METHOD-NUMBER, such as swap-1; this report has "),
        ("contrast", "is no name of a finding"),
        ("7", "is no name of a finding"),
        ("contrast-x", "is no name of a finding"),
    ],
)
def test_what_is_no_finding_is_refused_in_one_sentence(made, name, words):
    done = call(made, "panel", *ASKED, "--finding", name)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert " by contrast" in done.stderr


def test_without_the_report_in_the_store_it_is_asked_for(made, tmp_path):
    done = call(made, "panel", *ASKED, "--set", "report.max_panels=9", "--finding", "swap-1")
    assert done.returncode == 2
    assert (
        "the report stage of this configuration is not in data (report.max_panels: 3 → 9); first run: " in done.stderr
    )
    assert call(tmp_path, "panel", "--finding", "1").returncode == 2


def test_with_one_method_the_number_is_enough(folder):
    only = (*SHORT, "--set", "test.method=contrast")
    ok(folder, "run", *only)
    assert ok(folder, "panel", *only, "--finding", "4") == f"{HOME}/contrast-004.png\n"
