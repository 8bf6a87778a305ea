"""LAYOUTS: how masks and outcomes may lie in a folder. A new one is a module with a `Layout`, and a line here
(docs/adding.md)."""

from pipeline.sources.layouts import dattri, madrylab, own_folder, trained_set
from pipeline.sources.layouts.base import Layout

__all__ = ["LAYOUTS", "Layout"]

LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (own_folder.LAYOUT, trained_set.LAYOUT, madrylab.RELEASED, madrylab.TRAINER, dattri.LAYOUT)
}
"""In the order in which a folder is held against them."""
