"""A set that `datamodels-inf train` made, in a folder of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.sources.array_files import Files, open_files
from pipeline.sources.layouts.base import Layout, folder_of
from pipeline.sources.trained import content_of_files, trained_files

if TYPE_CHECKING:
    from pipeline.config import Source


def _files(source: Source) -> Files:
    return trained_files(folder_of(source), source.images)


LAYOUT = Layout(
    "trained",
    "made by datamodels-inf train",
    "manifest.json of datamodels-inf train",
    lambda source: (folder_of(source) / "manifest.json").is_file(),
    lambda source: content_of_files(_files(source)),
    lambda source: open_files(_files(source)),
    lambda source: True,
)
