"""A set that `train` made, as a layout of the user's folder."""

from numbered_set import made_once, small

from pipeline.config import Source
from pipeline.sources.folder import layout_of
from pipeline.sources.layouts.trained_set import LAYOUT

__all__ = ["made_once", "small"]


def test_its_manifest_tells_it(made_once):
    source = Source(kind="files", folder=made_once)
    assert layout_of(source) is LAYOUT and LAYOUT.labelled(source)
    opened = LAYOUT.open(source)
    assert opened.masks.n_models == len(opened.finished) == 600 and opened.numbered is not None
    assert "content of masks" in LAYOUT.content(source)
