"""The figures of docs/: each is linked, follows light and dark, and says what code and sample report say today."""

import base64
import importlib.util
import io
import re
import sys

import pytest
from PIL import Image
from places import ROOT

FOLDER = ROOT / "docs" / "figures"
PAGE = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def scripts():
    """The scripts in docs/figures, which are in no package, by name; they import their style from beside them."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    made = {}
    for name in ("method_figures", "findings"):
        spec = importlib.util.spec_from_file_location(f"figures_{name}", FOLDER / f"{name}.py")
        made[name] = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made[name])
    yield made
    while str(FOLDER) in sys.path:
        sys.path.remove(str(FOLDER))
    for name in {"style", "figures_method_figures", "figures_findings"} - before:
        del sys.modules[name]


@pytest.fixture(scope="module")
def script(scripts):
    return scripts["method_figures"]


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


def test_the_picture_of_the_readme_is_of_the_sample_report(scripts, tmp_path):
    """Its words, and the pixels of its nine images."""
    scripts["findings"].draw(tmp_path)
    kept, new = (folder / "findings.svg" for folder in (FOLDER, tmp_path))
    assert texts(kept) == texts(new), "run python docs/figures/findings.py"
    pictures = [pixels(path) for path in (kept, new)]
    assert len(pictures[0]) == 9 and pictures[0] == pictures[1]
    assert all(picture.size == (32, 32) for picture in pictures[0])
    assert "docs/figures/findings.svg" in (ROOT / "README.md").read_text(encoding="utf-8")


def pixels(path):
    found = re.findall(r'href="data:image/png;base64,([^"]+)"', path.read_text(encoding="utf-8"))
    return [Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB") for text in found]


def test_the_page_has_the_numbers_of_its_figures(drawn):
    swap, paired, contrast = ((drawn / f"method-{name}.svg").read_text() for name in ("swap", "paired", "contrast"))
    (line,) = [line for line in PAGE.splitlines() if line.startswith("The same 4,000 models: ")]
    said = re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?(?= by the paper| by its exact| paired| by the contrast)", line)
    shown = [*re.findall(r"(?:paper|exact): p = ([\d.e-]+)", swap), *re.findall(r"p = ([\d.e-]+)", paired + contrast)]
    assert said == shown


def test_colours_follow_light_and_dark():
    for path in FOLDER.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "prefers-color-scheme: dark" in text and "var(--ink)" in text
        rest = text.partition("</style>")[2]
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", rest)) <= {"#000000"}, path.name
