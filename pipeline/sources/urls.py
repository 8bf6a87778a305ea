"""Masks, margins and perhaps weights from any HTTP server, by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.sources.base import Arrived, SourceKind
from pipeline.sources.network_content import LEFT_OUT, content, weights_needed
from pipeline.text.secrets import without_secrets

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.sources.fetch_plan import Remotes
    from pipeline.stages.base import Run

PARTS = "masks", "margins", "weights"


def _problem(source: Source) -> str:
    if source.masks_url is None or source.margins_url is None:
        return "source.masks_url and source.margins_url must be given when source.kind is 'http'"
    return ""


def _bring(run: Run) -> Arrived:
    from pipeline.sources.network import bring

    return bring(run, lambda: _remotes(run.config))


def _remotes(config: Config) -> Remotes:
    from pipeline.remote.http import HttpObject
    from pipeline.sources.fetch_plan import Remotes

    source = config.source
    assert source.masks_url is not None and source.margins_url is not None  # The configuration asks for them.
    weights = HttpObject(source.weights_url) if source.weights_url and weights_needed(config) else None
    digests = [(part, getattr(source, f"{part}_sha256")) for part in PARTS]
    return Remotes(HttpObject(source.masks_url), HttpObject(source.margins_url), weights, digests)


def _fetched(config: Config) -> tuple[str, ...]:
    source = config.source
    addresses = source.masks_url, source.margins_url, source.weights_url if weights_needed(config) else None
    return tuple(without_secrets(address) for address in addresses if address is not None)


SOURCE = SourceKind(
    "http",
    "files on a web server",
    (*(f"{part}_url" for part in PARTS), *(f"{part}_sha256" for part in PARTS), "images", "mirrors"),
    content,
    _bring,
    left_out=LEFT_OUT,
    problem=_problem,
    brings_weights=lambda source: source.weights_url is not None,
    fetched=_fetched,
)
