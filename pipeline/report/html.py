"""The page as HTML: the templates of its sections, one after the other, with style, script and images inside."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files as resources
from pathlib import PurePath

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup, escape

from pipeline.report.compiled_templates import environment_of
from pipeline.report.names import class_name, place
from pipeline.report.page import Page
from pipeline.report.rows import Row
from pipeline.report.sections import File, Shown
from pipeline.report.sentences import effect_and_interval, selected_interval
from pipeline.text.csv_text import plain
from pipeline.text.nouns import worded
from pipeline.text.numbers import counted, number, p_equals, percent, pvalue, thousands, unbroken

SORT_KEYS = ("pvalue", "pvalue_adjusted", "statistic", "theta_i", "theta_j", "effect")
FILTERS = {
    "number": number,
    "pvalue": pvalue,
    "p_equals": p_equals,
    "percent": percent,
    "plural": counted,
    "effect": effect_and_interval,
    "selected": selected_interval,
    "unbroken": unbroken,
    "thousands": thousands,
    "place": place,
    "name": class_name,
}


def html_of(page: Page, shown: Sequence[Shown], files: Sequence[File]) -> str:
    """The whole page. files: what stands beside it."""
    environment = _environment(page, shown)
    shared = {"page": page, "files": listed_files(files), "noun": page.content.noun}

    def parts(inside: str) -> list[Markup]:
        """The sections inside another one, or (inside nothing) of the page itself."""
        return [render(one) for one in shown if one.section.inside == inside]

    def render(one: Shown) -> Markup:
        template = environment.get_template(f"{one.section.name}.html.j2")
        inside = Markup("").join(parts(one.section.name))
        text = template.render(shared | {"inside": inside} | dict(one.variables))
        if inside not in text:
            raise ValueError(f"sections inside {one.section.name} are lost: its template must have {{{{ inside }}}}.")
        return Markup(text)

    script = resources("pipeline.report").joinpath("templates/script.js").read_text(encoding="utf-8")
    return environment.get_template("page.html.j2").render(
        page=page,
        sections=parts(inside=""),
        contents=contents_of(page, shown),
        styles=[one.section.style for one in shown if one.section.style],
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
    )


@dataclass(frozen=True)
class Entry:
    """A line of the contents: where it leads, and the lines inside it."""

    anchor: str
    title: str
    inside: list[Entry]


def contents_of(page: Page, shown: Sequence[Shown], inside: str = "") -> list[Entry]:
    """The sections that have a title, in their order."""
    return [
        Entry(one.section.name, one.section.title(page), contents_of(page, shown, one.section.name))
        for one in shown
        if one.section.inside == inside and one.section.title is not None
    ]


def listed_files(files: Sequence[File]) -> list[File]:
    """Tables, then report.json, then pictures; of a folder, the first."""
    first: dict[str, File] = {}
    for file in files:
        if file.listed:
            first.setdefault(file.folder or file.path, file)
    return sorted(first.values(), key=lambda file: PurePath(file.path).suffix)


def _environment(page: Page, shown: Sequence[Shown]) -> Environment:
    def item(row: Row) -> Markup:
        """What the script sorts and filters by: target, classes, images, and the numbers as in the CSV files."""
        keys = " ".join(plain(getattr(row, name)) for name in SORT_KEYS)
        members = (*row.left, *row.right)
        known = page.content.train_classes
        classes = dict.fromkeys([row.class_i, row.class_j, *(known[member] for member in members if known)])
        names = " ".join(str(page.class_numbers.get(name, -1)) for name in classes)
        images = " ".join(map(str, members))
        return Markup('data-t="{}" data-c="{}" data-m="{}" data-s="{}"').format(row.target, names, images, keys)

    own = [PackageLoader("pipeline.report", folder) for folder in ("templates", "sections")]
    given = [one.section.templates for one in shown if one.section.templates is not None]
    environment = environment_of(ChoiceLoader([*own, *given]))
    environment.filters.update(
        FILTERS, item=item, subscripts=_subscripts, worded=partial(worded, noun=page.content.noun)
    )
    return environment


def _subscripts(text: str) -> Markup:
    """H_m with a lowered m."""
    return Markup(re.sub(r"_(\w)", r"<sub>\1</sub>", str(escape(text))))
