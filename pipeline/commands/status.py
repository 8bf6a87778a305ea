"""`datamodels-inf status`: what is there, and what would run and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipeline.errors import BadInputError
from pipeline.run import Pipeline, describe
from pipeline.stages import STAGES
from pipeline.store.cache import Result


def status_lines(pipeline: Pipeline) -> Iterator[str]:
    """One line per stage of this configuration, then the other results in the store."""
    yield f"store {pipeline.store.root}"
    keys: set[str] = set()
    inputs: dict[str, Result] = {}
    try:
        for name, spec in pipeline.specs():
            keys.add(spec.key)
            found, reason = pipeline.look_up(name, spec, {k: v for k, v in inputs.items() if k in spec.inputs})
            if found is not None:
                inputs[str(name)] = found
            if found is not None and name not in pipeline.force:
                yield f"  {name:<9} {spec.key}  cached, {_age(found.manifest['made_at'])} old: {describe(found)}"
            else:
                yield f"  {name:<9} {spec.key}  would run: {reason or 'forced'}"
    except BadInputError as error:
        yield f"  from here on nothing can run: {error}"
    others = sum(
        path.parent.name not in keys for s in STAGES for path in pipeline.store.root.glob(f"{s}/*/manifest.json")
    )
    if others:
        yield f"  and {others} results of other configurations"


def _age(made_at: str) -> str:
    seconds = (datetime.now(UTC) - datetime.fromisoformat(made_at)).total_seconds()
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} seconds"
