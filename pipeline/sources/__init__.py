"""SOURCES: where masks, margins and images come from. A new kind is a module with a `SourceKind`, and a line here
(docs/adding.md)."""

from pipeline.sources import embedded, folder, madrylab, urls
from pipeline.sources.base import SourceKind

__all__ = ["SOURCES", "SourceKind"]

SOURCES: dict[str, SourceKind] = {
    kind.name: kind for kind in (embedded.SOURCE, folder.SOURCE, madrylab.SOURCE, urls.SOURCE)
}
