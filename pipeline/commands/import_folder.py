"""`datamodels-inf import`: another tool's files become a folder in the layout of docs/own-data.md."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError
from pipeline.sources.imports import IMPORTERS
from pipeline.sources.imports.base import Given, with_given, write_folder
from pipeline.store.files import check_place
from pipeline.text.given_names import one_line


def import_lines(name: str, source: Path, out: Path, given: Mapping[str, Any]) -> Iterator[str]:
    """What was made, and what was assumed of it."""
    if not source.exists():
        raise BadInputError(f"{source} does not exist; name the file or folder that {name} wrote.")
    options = Given(**given)
    if options.outcome is not None and not one_line(options.outcome):
        raise BadInputError("--outcome is empty; say what outcomes are (margin, loss, accuracy, …), or leave it out.")
    if options.flip and options.outcomes is None:
        raise BadInputError("--flip-sign is for --outcomes: signs of the tool's own files are known.")
    check_place(out, "OUT")  # Before much is read.
    opened = write_folder(out, with_given(IMPORTERS[name].read(source), options, source))
    yield f"{out}: {opened.masks.n_models:,} models of {opened.n_train:,} images, {opened.n_targets:,} targets"
    for line in (*opened.assumed, *opened.left_out):
        yield f"- {line}"
    yield f"Next: {shlex.join(['datamodels-inf', 'init', str(out)])}"
