"""A browser, and reports opened in it.

Needs playwright and a chromium in the path, and for the check of accessibility the environment variable AXE_CORE, the
path of axe-core's axe.min.js; `.ci/run` brings all three. What is missing is skipped.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from places import ROOT
from whole_contents import CONTENTS

from pipeline.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SAMPLE = ROOT / "reports" / "sample"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folder of a report, written when it is first asked for."""
    made = {}

    def folder(name):
        if name == "sample":
            if not SAMPLE.is_dir():
                pytest.skip("the sample report is not part of this copy")
            return SAMPLE
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name.replace(" ", "-"))
            write_report(made[name], CONTENTS[name]())
        return made[name]

    folder.images = lambda name: CONTENTS[name]().images
    return folder


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
def visit(browser, folders):
    """Opens a report; afterwards, whatever it asked of a network and whatever the browser complained of is an error."""
    contexts, requests, complaints = [], [], []

    def go(name, width=1280, scheme="light", anchor="", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        address = (folders(name) / "index.html").as_uri()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.goto(address + anchor)
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not re.match(r"file:///.*/index\.html|data:", url)] == []


@pytest.fixture(scope="module")
def axe():
    path = os.environ.get("AXE_CORE")
    if not path:
        pytest.skip("AXE_CORE does not name axe-core's axe.min.js")
    return Path(path).read_text(encoding="utf-8")
