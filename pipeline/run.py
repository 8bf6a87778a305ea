"""The stages in their order: what is cached, what runs and why, and the report in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from datamodels_inf.internal.cores import available_cores, blas_threads
from pipeline.compiling import Compiling
from pipeline.config import Config
from pipeline.errors import BadInputError
from pipeline.places.base import Place
from pipeline.places.fitness import remove_notes
from pipeline.progress import working
from pipeline.published import publish, refuse_blocked
from pipeline.stages import STAGES, Run, Stage
from pipeline.stages.inputs import Data
from pipeline.stages.prior.files import prior_in_use
from pipeline.store.cache import Result, Spec, Store
from pipeline.store.disk import telling_of_the_disk
from pipeline.store.files import make_folder
from pipeline.store.unfinished_works import remove_works
from pipeline.summaries import ReportSummary, Summary, read_summary
from pipeline.text.numbers import human_bytes
from pipeline.unseen_effects import advice, n_equal_weights, unseen_in


class Pipeline:
    """One configuration on one store. origin: its name, or that of its file, for the reasons why a stage runs."""

    def __init__(
        self,
        config: Config,
        store: Path,
        reports: Path,
        *,
        origin: str = "",
        command: str = "",
        force: Iterable[str] = (),
        quiet: bool = False,
        threads: int | None = None,
        say: Callable[[str], object] = lambda line: None,
        confirm: Callable[[str], bool] = lambda question: True,
        dry_run: bool = False,
    ) -> None:
        self.config = config
        self._cluster: Place | None = None
        self.store = Store(store, origin, quiet=quiet, threads=threads)
        self.reports = reports
        self.command = command
        self.force = set(force)
        self.quiet = quiet
        self.threads = threads
        self.say = say
        self.confirm = confirm
        self.dry_run = dry_run

    @property
    def home(self) -> Path:
        """Where its report is published."""
        return self.reports / self.config.report.name

    def stages(self) -> list[Stage[Any]]:
        """The stages that this configuration wants."""
        return [stage for stage in STAGES.values() if stage.wanted(self.config)]

    def specs(self) -> Iterator[tuple[str, Spec]]:
        """Every stage's recipe, in order; known before anything runs."""
        keys: dict[str, str] = {}
        for stage in self.stages():
            inputs = {name: keys[name] for name in stage.inputs if name in keys}
            with self.store.hashing.used():  # Of a user's files that enter a key.
                settings = stage.settings(self.config)
            spec = Spec(stage.name, stage.version, settings, inputs)
            keys[stage.name] = spec.key
            yield stage.name, spec

    def run(self, last: str) -> Result:
        """Run or find `last` and every stage that it needs; publish its files if that is what it is for."""
        make_folder(self.store.root, "--store")
        home = self.reports / f"{self.config.report.name}{STAGES[last].suffix}"
        if STAGES[last].published:
            make_folder(self.reports, "--reports")
            refuse_blocked(home)
        specs = self._needed_specs(last)
        using_the_store = telling_of_the_disk(self.store.root, "--store", there=self.store.root)
        keys = {spec.key for spec in specs.values()}
        with using_the_store, self.store.hashing.used(), self.store.locked(self.say, keys):
            self._look_ahead(specs, None)
            results: dict[str, Result] = {}
            with ExitStack() as using, Compiling(self._kernels(specs), self.threads) as compiling:
                self._cluster = self._workers(using)
                for name, spec in specs.items():
                    inputs = {key: results[key] for key in spec.inputs}
                    results[name] = self._stage(name, spec, inputs, compiling)
                    if name == "download":
                        self._look_ahead(specs, results[name])
            if STAGES[last].published:
                self._publish(results, last, home)
        return results[last]

    def _publish(self, results: Mapping[str, Result], last: str, home: Path) -> None:
        reading = telling_of_the_disk(self.store.root, "--store", there=results[last].folder)
        with reading, telling_of_the_disk(home, "--reports", there=self.reports):
            for line in (*self._advice(results), *publish(results[last], home, self.config, self.command)):
                self._say_more(line)

    def _workers(self, using: ExitStack) -> Place | None:
        """Those of the configured cluster, which are called when a stage has work for them."""
        remove_notes(self.store.root)
        if self.config.cluster.address is None:
            return None
        from pipeline.places.cluster import Cluster

        cluster = Cluster(self.config.cluster, self.store.root, self._say_more, self.quiet)
        return using.enter_context(cluster)

    def _say_more(self, line: str) -> None:
        """Below the line that names the stage."""
        self.say(f"{'':<9} {line}")

    def _needed_specs(self, last: str) -> dict[str, Spec]:
        """Those of `last` and of every stage that it needs: a file that is missing is missed before anything runs."""
        needed, found = needed_by(last), dict[str, Spec]()
        for name, spec in self.specs():
            if name in needed:
                found[name] = spec
            if name == last:
                break
        return found

    def _look_ahead(self, specs: Mapping[str, Spec], download: Result | None) -> None:
        """Let the stages that will run refuse what they can see already."""
        for name in self._to_make(specs):
            ahead = STAGES[name].ahead
            if ahead is not None:
                ahead(self.config, None if download is None else Data.of(download, self.config))

    def _to_make(self, specs: Mapping[str, Spec]) -> list[str]:
        """The stages that have left nothing, at a glance."""
        made = {name for name, spec in specs.items() if (self.store.folder(spec) / "manifest.json").is_file()}
        return [name for name in specs if name not in made or name in self.force]

    def _kernels(self, specs: Mapping[str, Spec]) -> list[str]:
        """What the stages that will run call, in their order."""
        names = [] if self.dry_run else self._to_make(specs)
        return [kernel for name in names for kernel in STAGES[name].kernels(self.config)]

    def _advice(self, results: Mapping[str, Result]) -> list[str]:
        """Where another method sees what one cannot: one line, on a method that found nothing if there is one."""
        test = self.config.test
        found = read_summary(results["report"], ReportSummary).n_findings if "report" in results else {}
        for method in sorted(found, key=lambda name: found[name] > 0):
            prior = prior_in_use(test, results.get("prior"), method)
            n = 0 if found[method] else unseen_in(results["test"], method, test, prior)
            if line := advice(n, test, self.command, n_equal_weights(results["test"], method)):
                return [line]
        return []

    def finished(self, names: Iterable[str], command: str) -> dict[str, Result]:
        """The results of these stages, from the store: nothing is run. `command` is what to run where one is missing.

        With a stage, name those that it reads.
        """
        wanted, found = set(names), dict[str, Result]()
        for name, spec in self.specs():
            if name not in wanted:
                continue
            inputs = {key: found[key] for key in spec.inputs}
            result, reason = self.store.look_up(spec, inputs, STAGES[name].unread)
            if result is None:
                raise BadInputError(
                    f"the {name} stage of this configuration is not in {self.store.root} ({reason}); "
                    f"first run: {command}"
                )
            found[name] = result
        return found

    def look_up(self, name: str, spec: Spec, inputs: Mapping[str, Result]) -> tuple[Result | None, str]:
        """(the result, "") or (None, why the stage would run): it is not there, or there is reason to make it again."""
        found, reason = self.store.look_up(spec, inputs, STAGES[name].unread)
        stale = "" if found is None else STAGES[name].stale(found, self.store.root)
        return (None, stale) if stale else (found, reason)

    def _stage(self, name: str, spec: Spec, inputs: dict[str, Result], compiling: Compiling) -> Result:
        """Found or made, never in silence, and with BLAS on as many threads as the stage itself may use."""
        with working(name, self.quiet), blas_threads(self.threads or available_cores()):
            return self._found_or_made(name, spec, inputs, compiling)

    def _found_or_made(self, name: str, spec: Spec, inputs: dict[str, Result], compiling: Compiling) -> Result:
        found, reason = self.look_up(name, spec, inputs)
        if found is not None and name not in self.force:
            remove_works(found.folder.parent, spec.key)  # What a kill just after the end has left.
            self.say(f"{name:<9} cached   {spec.key}  {describe(found)}")
            return found
        self.say(f"{name:<9} running  {reason or 'forced'}")
        unfinished = self.store.unfinished(spec, inputs, fresh=name in self.force)

        def work(out: Path) -> dict[str, Any]:
            run = Run(
                config=self.config,
                inputs=inputs,
                out=out,
                unfinished=unfinished,
                store=self.store.root,
                threads=self.threads,
                quiet=self.quiet,
                say=self._say_more,
                confirm=self.confirm,
                dry_run=self.dry_run,
                command=self.command,
                cluster=self._cluster,
            )
            summary: Summary = STAGES[name].run(run)
            return summary.as_json()

        compiling.ready(STAGES[name].kernels(self.config), self._say_more, self.quiet)
        made = self.store.make(spec, inputs, work)
        self.say(f"{'':<9} done     {spec.key}  {describe(made)}, {made.manifest['seconds']:.1f} s")
        return made


def needed_by(last: str) -> set[str]:
    """A stage with its inputs, their inputs, and so on."""
    return {last}.union(*(needed_by(name) for name in STAGES[last].inputs))


def describe(result: Result) -> str:
    """A stage's result in a few words, and how large it is, wherever it lies."""
    words = STAGES[result.manifest["stage"]].describe(result)
    outside = "".join(f" and {human_bytes(size)} in {home}/" for home, size in result.n_bytes_outside.items())
    return f"{words}; {human_bytes(result.n_bytes)}{' here' if outside else ''}{outside}"
