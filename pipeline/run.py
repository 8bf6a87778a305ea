"""The four stages in their order: what is cached, what runs and why, and the report in its place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pipeline.config import Config
from pipeline.stages import download, report
from pipeline.stages.fit import stage as fit
from pipeline.stages.robustness import features
from pipeline.stages.robustness import stage as robustness
from pipeline.stages.test import stage as test
from pipeline.store.cache import Result, Spec, Store
from pipeline.store.files import PART, file_digest, human_bytes, make_folder, whole_file

Stage: TypeAlias = Literal["download", "fit", "test", "features", "robustness", "report"]
STAGES: tuple[Stage, ...] = get_args(Stage)
MODULES: dict[Stage, Any] = {
    "download": download,
    "fit": fit,
    "test": test,
    "features": features,
    "robustness": robustness,
    "report": report,
}


class Pipeline:
    """One configuration on one store."""

    def __init__(
        self,
        config: Config,
        store: Path,
        reports: Path,
        *,
        command: str = "",
        force: Iterable[str] = (),
        quiet: bool = False,
        threads: int | None = None,
        say: Callable[[str], object] = lambda line: None,
        confirm: Callable[[str], bool] = lambda question: True,
        dry_run: bool = False,
    ) -> None:
        self.config = config
        self.store = Store(store)
        self.reports = reports
        self.command = command
        self.force = set(force)
        self.quiet = quiet
        self.threads = threads
        self.say = say
        self.manners = download.Manners(say, confirm, dry_run, quiet)

    def specs(self) -> Iterator[tuple[Stage, Spec]]:
        """Every stage's recipe, in order; known before anything runs."""
        keys: dict[str, str] = {}
        for name in self.stages():
            module = MODULES[name]
            inputs = {"download": keys["download"]} if name == "features" else dict(keys)
            spec = Spec(name, module.VERSION, module.settings(self.config), inputs)
            keys[name] = spec.key
            yield name, spec

    def stages(self) -> list[Stage]:
        """The stages of this configuration: those of the robustness re-runs only if there are any."""
        asked = self.config.robustness
        left_out = {"features", "robustness"} if not asked.wanted else set()
        left_out |= {"features"} if asked.metric != "features" or asked.embeddings is not None else set()
        return [name for name in STAGES if name not in left_out]

    def run(self, last: Stage) -> Result:
        """Run or find every stage up to `last`; publish the report if that is the last one."""
        make_folder(self.store.root, "--store")
        if last == "report":
            make_folder(self.reports, "--reports")
        with self.store.locked(self.say):
            results: dict[str, Result] = {}
            for name, spec in self.specs():
                results[name] = self._stage(name, spec, {key: results[key] for key in spec.inputs})
                if name == last:
                    break
            if last == "report":
                self._publish(results["report"])
        return results[last]

    def _stage(self, name: Stage, spec: Spec, inputs: dict[str, Result]) -> Result:
        found, reason = self.store.look_up(spec, inputs)
        if found is not None and name not in self.force:
            self.say(f"{name:<9} cached   {spec.key}  {describe(found)}")
            return found
        self.say(f"{name:<9} running  {reason or 'forced'}")
        bench = self.store.bench(spec, inputs, fresh=name in self.force)
        made = self.store.make(spec, inputs, lambda folder: self._work(name, folder, bench, inputs))
        shutil.rmtree(bench, ignore_errors=True)
        self.say(f"{'':<9} done     {spec.key}  {describe(made)}, {made.manifest['seconds']:.1f} s")
        return made

    def _work(self, name: Stage, folder: Path, bench: Path, inputs: dict[str, Result]) -> dict[str, Any]:
        from pipeline.stages.inputs import Data, Fitted

        if name == "download":
            return download.run(self.config, self.store.root, folder, self.manners)
        data = Data.of(inputs["download"])
        say = lambda line: self.say(f"{'':<9} {line}")  # noqa: E731
        if name == "fit":
            return fit.run(self.config, data, folder, bench, threads=self.threads, quiet=self.quiet, say=say)
        if name == "test":
            fitted = Fitted.of(inputs["fit"])
            return test.run(self.config, data, fitted, folder, bench, threads=self.threads, quiet=self.quiet, say=say)
        if name == "features":
            return features.run(data, folder, quiet=self.quiet)
        if name == "robustness":
            return robustness.run(
                self.config,
                data,
                Fitted.of(inputs["fit"]),
                inputs["test"].folder / "tests.parquet",
                inputs["features"].folder if "features" in inputs else None,
                folder,
                bench,
                threads=self.threads,
                quiet=self.quiet,
                say=say,
            )
        return report.run(self.config, inputs, folder, self.quiet, self.command)

    def _publish(self, result: Result) -> None:
        """Copy the report to <reports>/<name>, file by file and each whole; what an older report left there goes."""
        home = self.reports / self.config.report.name
        home.mkdir(parents=True, exist_ok=True)
        files: dict[str, dict[str, Any]] = result.manifest["files"]
        listed = home / ".files"
        stale = set(listed.read_text(encoding="utf-8").splitlines()) - files.keys() if listed.is_file() else set()
        for path in (*(home / name for name in stale), *home.rglob(f"{PART}*")):
            path.unlink(missing_ok=True)
        for name, entry in files.items():
            place = home / name
            if place.is_file() and file_digest(place) == entry["sha256"]:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place) as temporary:
                shutil.copyfile(result.folder / name, temporary)
        with whole_file(listed) as temporary:
            temporary.write_text("".join(f"{name}\n" for name in files), encoding="utf-8")
        self.say(f"{'':<9} report   {home / 'index.html'}")


def describe(result: Result) -> str:
    """A stage's result in a few words."""
    s = result.summary
    stage = result.manifest["stage"]
    if stage == "download":
        words = f"{s['n_models']:,} models × {s['n_train']:,} images, {s['n_targets']:,} targets"
    elif stage == "fit":
        quality = "unknown" if s["r2_median"] is None else f"{s['r2_median']:.2f}"
        words = f"{s['n_targets']:,} targets, median held-out R² {quality}"
    elif stage == "test":
        words = f"{s['n_tests'] - s['n_untested']:,} pairs by {', '.join(s['methods'])}"
        words += f", {s['n_untested']:,} not tested" if s["n_untested"] else ""
    elif stage == "features":
        words = f"{s['n_features']:,} features of {s['n_train']:,} images"
    elif stage == "robustness":
        words = f"{len(s['cases'])} pairs made again by {s['method']}, {s['n_tests']:,} tests"
    else:
        words = ", ".join(f"{count} findings by {method}" for method, count in s["n_findings"].items())
    return f"{words}; {human_bytes(result.n_bytes)}"
