"""A notebook, executed by a kernel of its own. `python tests/helpers/executed_notebook.py` writes the outputs of
examples/tour.ipynb anew.

What depends on the moment or the machine (times, versions) is left out, so that a refresh changes only what changed.
"""

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"
LANGUAGE = {"name": "python"}


def execute(path, timeout=120):
    """The notebook with fresh outputs, run in its own folder; nothing is written to it or to the user's home."""
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as home:
        own = {name: home for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
        with patch.dict(os.environ, own):
            resources = {"metadata": {"path": str(path.parent)}}
            NotebookClient(book, timeout=timeout, record_timing=False, resources=resources).execute()
    book.metadata["language_info"] = LANGUAGE
    return book


if __name__ == "__main__":
    nbformat.write(execute(TOUR), TOUR)
