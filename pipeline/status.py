"""`datamodels-inf status`: what is there, and what would run and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipeline.run import Pipeline, describe


def status_lines(pipeline: Pipeline) -> Iterator[str]:
    """One line per stage of this configuration, then the other results in the store."""
    yield f"store {pipeline.store.root}"
    stale = False
    specs = pipeline.specs()
    for name, spec in specs.items():
        found, reason = pipeline.store.look_up(spec)
        if found is not None:
            again = "  (would run again: an earlier stage will)" if stale else ""
            yield f"  {name:<9} {spec.key}  cached, {_age(found.manifest['made_at'])} old: {describe(found)}{again}"
        else:
            stale = True
            yield f"  {name:<9} {spec.key}  would run: {reason}"
    others = _other_results(pipeline, {pipeline.store.folder(spec).name for spec in specs.values()})
    if others:
        yield f"  and {others} results of other configurations"


def _age(made_at: str) -> str:
    seconds = (datetime.now(UTC) - datetime.fromisoformat(made_at)).total_seconds()
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} seconds"


def _other_results(pipeline: Pipeline, keys: set[str]) -> int:
    manifests = pipeline.store.root.glob("*/*/manifest.json")
    return sum(path.parent.name not in keys for path in manifests)
