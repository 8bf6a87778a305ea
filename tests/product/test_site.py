"""The documentation as a site: built whole and without a warning, it asks nothing of a network, also from a disk."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from places import ROOT

pytest.importorskip("mkdocs", reason="mkdocs is not installed: it comes with the extra [docs]")
pytest.importorskip("material", reason="mkdocs-material is not installed: it comes with the extra [docs]")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDE = ("docs/configuration.html", "docs/reliability.html", "docs/stages.html", "docs/cifar10-study.html", "index.html")
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "video": "src", "object": "data"}
RELATIONS = {"stylesheet", "icon", "preconnect", "dns-prefetch", "preload", "prefetch", "modulepreload", "manifest"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs" / "theme" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loads(HTMLParser):
    """What a page loads when it is opened: not what it only links to."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in LOADING and given.get(LOADING[tag]):
            self.found.append(given[LOADING[tag]])
        if tag == "link" and RELATIONS & set((given.get("rel") or "").split()):
            self.found.append(given["href"])


def loads(path):
    parser = Loads()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


def test_every_page_of_docs_is_there_and_the_readme_is_the_first(site):
    for path in (ROOT / "docs").glob("*.md"):
        assert (site / "docs" / f"{path.stem}.html").is_file()
    assert "datamodels-inf" in (site / "index.html").read_text(encoding="utf-8")


def test_what_pages_load_is_in_the_site(site):
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]  # Its addresses are those of a server.
    assert len(pages) > 25
    for page in pages:
        for address in loads(page):
            if not address.startswith("data:"):
                assert not re.match(r"(\w+:)?//", address), (page, address)
                assert (page.parent / re.split(r"[?#]", address)[0]).is_file(), (page, address)


def test_a_page_that_loads_from_outside_would_be_seen(tmp_path):
    (tmp_path / "page.html").write_text(
        '<link rel="preconnect" href="https://fonts.example"><script src="//cdn.example/a.js"></script>'
        '<a href="https://only-linked.example">x</a>'
    )
    assert loads(tmp_path / "page.html") == ["https://fonts.example", "//cdn.example/a.js"]


def test_links_to_folders_and_sources_lead_to_their_pages(hooks):
    assert hooks.linked("docs/rows.md", "../benchmarks/RESULTS.md") == "benchmarks/RESULTS.md"
    assert hooks.linked("docs/rows.md", "../nothing.md") is None  # Left to MkDocs, whose warning is an error.
    assert hooks.linked("docs/rows.md", "../../outside.md") is None
    assert hooks.shown_as("reports/sample") == "reports/sample/index.html"
    assert hooks.shown_as("examples/referee") == "examples/referee/README.md"
    assert hooks.shown_as("examples/diabetes.py") == "examples/diabetes.py.md"
    assert hooks.shown_as("docs/method.md") == "docs/method.md"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("θ̂_i = θ̂_j, and Σ_{l≠i,j} x_l", "θ̂<sub>i</sub> = θ̂<sub>j</sub>, and Σ<sub>l≠i,j</sub> x<sub>l</sub>"),
        ("s_a²/a, p_(R) ≤ α", "s<sub>a</sub>²/a, p<sub>(R)</sub> ≤ α"),
        ("x ∈ R^d", "x ∈ R<sup>d</sup>"),
        ("κ·mean_{j≠i} under H0", "κ·mean<sub>j≠i</sub> under H<sub>0</sub>"),
        ("at last 2^(1−n), SHA0, 2^x", "at last 2<sup>1−n</sup>, SHA0, 2^x"),
        ("tests/validity/test_hard_nulls.py, n_train, `x_i`, [here](c_d)", None),
    ],
)
def test_formulas_get_indices_and_names_of_files_do_not(hooks, written, shown):
    import markdown

    plain, ours = markdown.markdown(written), markdown.markdown(written, extensions=[hooks.Formulas()])
    ours = ours.replace('<span class="formula">', "").replace("</span>", "")
    assert ours == (plain if shown is None else f"<p>{shown}</p>")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium in the path")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@pytest.fixture
def visit(browser, site):
    """Opens pages from the disk; afterwards, whatever was asked of a network or complained of is an error."""
    requests, complaints, contexts = [], [], []

    def go(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto((site / name).as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


def test_search_finds_from_a_disk(visit):
    page = visit("docs/faq.html")
    page.locator("[name=query]").click()
    page.keyboard.type("saddlepoint", delay=20)  # By keys: the page listens to these.
    page.locator(".md-search-result__link[href*='method.html']").first.wait_for()


@pytest.mark.parametrize("name", WIDE)
def test_wide_tables_scroll_inside_themselves(visit, name):
    page = visit(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_table_of_two_columns_fits_a_phone(visit):
    page = visit("docs/stages.html", width=390)
    page.locator(".md-typeset__scrollwrap").first.wait_for()
    tables = "[...document.querySelectorAll('article table')].filter(one => one.rows[0].cells.length == 2)"
    assert page.evaluate(f"{tables}.length") > 5
    assert page.evaluate(f"{tables}.filter(one => one.getBoundingClientRect().right > 390).length") == 0


def test_what_is_wide_is_reached_by_keys(visit):
    page = visit("index.html", width=390)
    picture = page.locator("article p[tabindex]:has(img)")
    picture.wait_for()
    picture.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("!document.querySelector('article p[tabindex]')")


SCHEMES = [("index.html", 1280, "light"), ("docs/method.html", 390, "dark"), ("docs/python.html", 390, "light")]


@pytest.mark.parametrize(("name", "width", "scheme"), SCHEMES)
def test_no_serious_barrier_is_found(visit, name, width, scheme):
    if not os.environ.get("AXE_CORE"):
        pytest.skip("AXE_CORE does not name axe-core's axe.min.js")
    page = visit(name, width, scheme)
    page.wait_for_function("!document.querySelector('article pre') || document.querySelector('.md-code__nav[role]')")
    page.evaluate(Path(os.environ["AXE_CORE"]).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {preload: false, resultTypes: ['violations']})")
    assert found["passes"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"] if one["impact"] != "minor"]
    assert serious == []
