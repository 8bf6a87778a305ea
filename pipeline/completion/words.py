"""Values that a shell completes: configurations, settings with their closed sets of values, clusters, findings.

Nothing here imports the models of the configuration or the tables: an answer must come before the user types on.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from pipeline.completion.known_names import PATH, known_settings
from pipeline.named_configs import first_comment, named_configs

Items: TypeAlias = list["CompletionItem[str]"]
PARTIAL = "partial"
"""The type of an item after which the user types on: no blank follows it."""
CLUSTERS = (("local:", "so many processes here"), ("tcp://", "a Dask scheduler"), ("slurm", "jobs of [cluster]"))
MOST_FINDINGS = 2000
"""Lines of a report's findings that are read."""


class Configuration(click.ParamType[str]):
    """The name of a configuration that ships, or a TOML file."""

    name = "configuration"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Names with what they are, then TOML files and folders."""
        named = named_configs().items()
        items = [CompletionItem(name, help=first_comment(file)) for name, file in named if name.startswith(incomplete)]
        return items + files(incomplete, (".toml",))


class Setting(click.ParamType[str]):
    """A change of a setting, SECTION.KEY=VALUE."""

    name = "setting"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Sections, then the keys of one, then values where they are a closed set or files."""
        settings = known_settings()
        key, equals, value = incomplete.partition("=")
        if equals:
            known = settings.get(key, [])
            found = files(value) if known == PATH else [CompletionItem(name) for name in _begin(known, value)]
            return [CompletionItem(f"{key}={item.value}", type=item.type) for item in found]
        if "." in key:
            return [CompletionItem(f"{name}=", type=PARTIAL) for name in _begin(settings, key)]
        sections = dict.fromkeys(f"{name.partition('.')[0]}." for name in settings)
        return [CompletionItem(name, type=PARTIAL) for name in _begin(sections, key)]


class SettingName(click.ParamType[str]):
    """A setting without a value, or a section."""

    name = "setting"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Sections and their keys."""
        settings = known_settings()
        sections = dict.fromkeys(name.partition(".")[0] for name in settings)
        return [CompletionItem(name) for name in _begin([*sections, *settings], incomplete)]


class ClusterAddress(click.ParamType[str]):
    """Where workers are; what it must be, the section [cluster] says."""

    name = "address"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """The three forms."""
        return [
            CompletionItem(form, type="plain" if form.isalpha() else PARTIAL, help=text)
            for form, text in CLUSTERS
            if form.startswith(incomplete) and form != incomplete
        ]


class ScoreFile(click.ParamType[str]):
    """Scores of a method: `lasso`, or a file, with a name of the method before it or not."""

    name = "scores"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """The configuration's own, and files."""
        name, equals, path = incomplete.partition("=")
        if equals:
            return [CompletionItem(f"{name}={item.value}", type=item.type) for item in files(path)]
        own = [CompletionItem("lasso", help="the configuration's own datamodel")]
        return [item for item in own if item.value.startswith(incomplete)] + files(incomplete)


class FindingName(click.ParamType[str]):
    """A finding as the page calls it, contrast-12."""

    name = "finding"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """Those of the published report of the configuration, where one lies at its place."""
        home = _published(ctx)
        return [] if home is None else [CompletionItem(name) for name in _begin(_findings(home), incomplete)]


class Folder(click.Path):
    """A folder: files are not offered, but one that is given is refused where it is used, which says why."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        """The shell's own list."""
        return [CompletionItem(incomplete, type="dir")]


def files(incomplete: str, suffixes: Sequence[str] = ()) -> Items:
    """Paths that begin so: folders, from which the user types on, and files, if their suffix is one of these."""
    folder, slash, _ = incomplete.rpartition("/")
    start = Path(f"{folder}{slash}" or ".").expanduser()
    hidden = incomplete[len(folder) + len(slash) :].startswith(".")
    items = []
    for path in sorted(start.iterdir()) if start.is_dir() else ():
        word = f"{folder}{slash}{path.name}"
        if not word.startswith(incomplete) or (path.name.startswith(".") and not hidden):
            continue
        if path.is_dir():
            items.append(CompletionItem(f"{word}/", type=PARTIAL))
        elif not suffixes or path.suffix in suffixes:
            items.append(CompletionItem(word))
    return items


def _begin(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _published(ctx: click.Context) -> Path | None:
    """Where the report of a command's configuration lies; None where only reading the whole of it would tell."""
    asked: dict[str, Any] = dict(override.partition("=")[::2] for override in ctx.params.get("overrides") or ())
    name = asked.pop("report.name", None)
    if asked and name is None:  # What they change is in the name.
        return None
    config = str(ctx.params.get("config_name"))
    file = named_configs().get(config, Path(config).expanduser())
    if name is None and file.is_file():
        name = tomllib.loads(file.read_text(encoding="utf-8")).get("report", {}).get("name", file.stem)
    return None if name is None else Path(ctx.params.get("reports") or "reports") / name


def _findings(home: Path) -> list[str]:
    if not (home / "findings.csv").is_file():
        return []
    with (home / "findings.csv").open(encoding="utf-8", newline="") as lines:
        return [f"{row['method']}-{row['number']}" for row in csv.DictReader(islice(lines, MOST_FINDINGS))]
