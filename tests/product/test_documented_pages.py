"""Every command and code block of README and docs is run, in the order of its page, and prints what the page shows.

How pages are written for it: tests/helpers/documented.py. A failure names page and line.
"""

import matplotlib
import pytest
from documented import page_names, read_page
from documented_hosts import hosts
from documented_pages import EXCEPTIONS, prepared
from documented_run import Desk
from entry_points_here import declare

USED, SEEN = set(), set()


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    desk = Desk(tmp_path_factory.mktemp("desk"))
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    with hosts(tmp_path_factory.mktemp("hosts") / "hosts") as variables:
        yield variables


@pytest.mark.timeout(900)  # The README comes first, and makes what is cached for the others.
@pytest.mark.parametrize("name", page_names())
def test_commands_and_blocks(name, desk, variables, tmp_path, monkeypatch):
    matplotlib.use("agg")
    declare(tmp_path / "declared", monkeypatch)
    run = prepared(desk, read_page(name), variables)
    failures = run.everything()
    USED.update(run.used)
    SEEN.add(name)
    assert not failures, "\n".join(["", *failures])


def test_every_entry_of_the_tables_is_used():
    """An exception for what no page has any more is none."""
    if set(page_names()) != SEEN:
        pytest.skip("not all pages were run")
    unused = [entry for entry in EXCEPTIONS if entry not in USED]
    assert not unused
