"""`datamodels-inf status`: what is there, and what would run and why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pipeline.commands.whole_store import refuse_no_store
from pipeline.errors import BadInputError
from pipeline.published import unpublished
from pipeline.run import Pipeline, describe
from pipeline.stages import STAGES
from pipeline.store.cache import Result, Spec
from pipeline.store.manifests import MANIFEST, read_fitting
from pipeline.store.unfinished_works import ABANDONED_DAYS, unfinished_works
from pipeline.text.numbers import counted, human_bytes


def status_lines(pipeline: Pipeline) -> Iterator[str]:
    """One line per stage of this configuration, then the other results in the store, and unfinished work."""
    refuse_no_store(pipeline.store.root)
    yield f"store {pipeline.store.root}"
    keys: set[str] = set()
    outlook = _Outlook(pipeline)
    try:
        for name, spec in pipeline.specs():
            keys.add(spec.key)
            yield f"  {name:<9} {spec.key}  {outlook.of(name, spec)}"
    except BadInputError as error:
        yield f"  from here on nothing can run: {error}"
    root = pipeline.store.root
    known = [path for stage in STAGES for path in root.glob(f"{stage}/[!.]*/{MANIFEST}")]  # None that is being made.
    others = [path for path in known if path.parent.name not in keys]
    whole = sum(read_fitting(path) is not None for path in others)
    if whole:
        yield f"  and {counted(whole, 'result')} of other configurations"
    if whole < len(others):
        yield f"  and {counted(len(others) - whole, 'damaged one')}, which status --verify names"
    works = list(unfinished_works(root))
    if works:
        space = human_bytes(sum(work.n_bytes for work in works))
        yield (
            f"  and {counted(len(works), 'unfinished work')} ({space}): a run goes on with its own, and removes what "
            f"nobody has gone on with for {ABANDONED_DAYS} days"
        )


class _Outlook:
    """What would become of each stage, asked in their order: a stage may run because of one before it."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.found: dict[str, Result] = {}
        self.remade: list[str] = []
        self.changed: list[str] = []

    def of(self, name: str, spec: Spec) -> str:
        """ "cached, …" or "would run: …"."""
        pipeline, stage = self.pipeline, STAGES[name]
        inputs = {key: result for key, result in self.found.items() if key in spec.inputs}
        found, reason = pipeline.store.look_up(spec, inputs, stage.unread)
        if found is None:
            self.remade.append(name)
            return f"would run: {reason}"
        self.found[name] = found
        stale = stage.stale(found, pipeline.store.root)
        if stale:
            self.changed.append(name)
            return f"would run: {stale}"
        changed = [key for key in spec.inputs if key in self.changed and not stage.unread]
        if changed:
            self.remade.append(name)
            return f"would run: {changed[0]} will not be what it was"
        return f"cached, {_age(found.manifest['made_at'])} old: {describe(found)}{self._doubt(name, spec, found)}"

    def _doubt(self, name: str, spec: Spec, found: Result) -> str:
        """What else is to be known of a result that is there."""
        remade = [key for key in spec.inputs if key in self.remade]
        if remade:
            return f"; stays if {' and '.join(remade)} {'is' if len(remade) == 1 else 'are'} made again as before"
        if not STAGES[name].published:
            return ""
        elsewhere = unpublished(self.pipeline.home, found, self.pipeline.config, self.pipeline.command)
        return f"; but {elsewhere}" if elsewhere else f"; in {self.pipeline.home}"


def _age(made_at: str) -> str:
    seconds = (datetime.now(UTC) - datetime.fromisoformat(made_at)).total_seconds()
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} seconds"
