"""Reports, written and parsed."""

import pytest
from clustered_images import settings
from report_content import Page, check_self_contained, make_content

from pipeline.config_files import load_config
from pipeline.report import write_report
from pipeline.run import Pipeline


@pytest.fixture
def report(tmp_path):
    """Writes a report into a folder of its own and returns the folder and the parsed page."""
    count = iter(range(100))

    def write(rows, **changes):
        folder = tmp_path / f"report{next(count)}"
        folder.mkdir()
        paths = write_report(folder, make_content(rows, **changes))
        assert sorted(paths) == sorted(p for p in folder.rglob("*") if p.is_file())
        assert {"index.html", "overview.png", "findings.csv", "tests.csv", "report.json"} <= {p.name for p in paths}
        page = Page((folder / "index.html").read_text(encoding="utf-8"))
        check_self_contained(page)
        return folder, page

    return write


@pytest.fixture(scope="session")
def robustness_report(clusters):
    """The whole pipeline with re-runs, to the report."""
    config = load_config("digits", [*settings(clusters / "alike"), "robustness.top=2", "robustness.neighbours=3"])
    Pipeline(config, clusters / "alike" / "store", clusters / "reports", quiet=True).run("report")
    return clusters / "reports" / config.report.name
