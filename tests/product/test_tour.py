"""examples/tour.ipynb, run by a kernel: its committed outputs are those of the code as it is."""

import base64

import nbformat
import pytest
from executed_notebook import TOUR, execute

PNG = b"\x89PNG\r\n\x1a\n"
LIMIT = 500_000


@pytest.fixture(scope="module")
def committed():
    return nbformat.read(TOUR, as_version=4)


def words_of(output):
    """What an output says, without its pictures: of these only that there is one, for fonts and libraries draw them."""
    data = {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}
    return output.output_type, output.get("text"), data, "image/png" in output.get("data", {})


def test_committed_outputs_are_those_of_the_code(committed):
    fresh = execute(TOUR)
    nbformat.validate(fresh)
    assert [cell.source for cell in fresh.cells] == [cell.source for cell in committed.cells]
    for old, new in zip(committed.cells, fresh.cells, strict=True):
        if new.cell_type == "code":
            assert [words_of(one) for one in old.outputs] == [words_of(one) for one in new.outputs], new.source
            assert new.outputs and old.execution_count == new.execution_count


def test_it_shows_what_it_promises_and_is_small(committed):
    """The analysis with the pictures of its images, tables, a plot and a panel; no error, no path, no time."""
    outputs = [output for cell in committed.cells for output in cell.get("outputs", ())]
    pages = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert "influence their target differently" in pages[0] and pages[0].count("<img") == 30
    assert sum("dataframe" in page for page in pages) == 3
    pictures = [
        base64.b64decode(output.data["image/png"]) for output in outputs if "image/png" in output.get("data", {})
    ]
    assert [picture[:8] for picture in pictures] == [PNG, PNG]
    assert all(output.output_type != "error" for output in outputs)
    assert TOUR.stat().st_size < LIMIT
    assert all(not cell.metadata for cell in committed.cells) and committed.metadata.language_info == {"name": "python"}
