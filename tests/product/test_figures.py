"""The figures of docs/method.md: each is linked, follows light and dark, and says what the code says today."""

import importlib.util
import re
import sys

import pytest
from places import ROOT

FOLDER = ROOT / "docs" / "figures"
PAGE = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    """docs/figures/method_figures.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("method_figures", FOLDER / "method_figures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["method_figures"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))
    del sys.modules["method_figures"], sys.modules["style"]


@pytest.fixture(scope="module")
def drawn(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    script.draw(folder)
    return folder


def texts(path):
    """What is written in a figure; where it stands may differ by a rounding on another processor."""
    return re.findall(r"<text\b[^>]*>([^<]*)<|<tspan\b[^>]*>([^<]*)<", path.read_text(encoding="utf-8"))


def test_every_figure_of_the_page_is_drawn_by_the_script_and_the_reverse(script):
    names = {f"method-{name}.svg" for name in script.FIGURES}
    assert set(re.findall(r"\(figures/(method-[\w-]+\.svg)\)", PAGE)) == names
    assert {path.name for path in FOLDER.glob("method-*.svg")} == names


def test_the_figures_say_what_a_new_drawing_says(script, drawn):
    for path in sorted(drawn.iterdir()):
        said = texts(path)
        assert len(said) > 10
        assert texts(FOLDER / path.name) == said, f"{path.name}: run python docs/figures/method_figures.py"


def test_the_page_has_the_numbers_of_its_figures(drawn):
    swap, paired, contrast = ((drawn / f"method-{name}.svg").read_text() for name in ("swap", "paired", "contrast"))
    (line,) = [line for line in PAGE.splitlines() if line.startswith("The same 4,000 models: ")]
    said = re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?(?= by the paper| by its exact| paired| by the contrast)", line)
    shown = [*re.findall(r"(?:paper|exact): p = ([\d.e-]+)", swap), *re.findall(r"p = ([\d.e-]+)", paired + contrast)]
    assert said == shown


def test_colours_follow_light_and_dark():
    for path in FOLDER.glob("method-*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "prefers-color-scheme: dark" in text and "var(--ink)" in text
        rest = text.partition("</style>")[2]
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", rest)) <= {"#000000"}, path.name
