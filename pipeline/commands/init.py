"""`datamodels-inf init FOLDER`: says what lies in a folder, and writes a commented configuration for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from datamodels_inf.designs import DESIGNS
from pipeline.commands.check import working_lines
from pipeline.commands.survey import Looked, survey_lines
from pipeline.config import Config
from pipeline.config_files import literal, load_config
from pipeline.errors import BadInputError
from pipeline.named_configs import named_configs
from pipeline.report_name import LONGEST
from pipeline.sources.folder import layout_of, open_folder
from pipeline.store.files import check_place, make_folder, whole_file
from pipeline.text.given_names import one_line
from pipeline.text.nouns import noun_of

GRID_TESTS = 3000
"""Where all pairs of images on all targets are no more than this, all are tested."""
ALL_TARGETS = 500
"""Of more targets only the first are proposed: each needs a fit."""
FIRST_TARGETS = 100
PERCENTS = (50, 10, 20, 75)
REPEATED = ("Repeated masks", "Masks of the fit rows")
"""Checks of the premise that fail where masks were trained with several seeds; seeds of subsets.json say it first."""
SLOT = 34
"""Columns of a setting, before its comment."""


@dataclass(frozen=True)
class Proposal:
    """What is proposed for a folder, beside what is the same for all of them."""

    folder: Path
    percent: int
    looked: Looked
    design: str
    group: bool

    @property
    def name(self) -> str:
        """Of the report: that of the folder, but not that of a configuration that ships."""
        return report_name(self.folder)

    @property
    def noun(self) -> str:
        """What is trained on: images where there are pictures, or where they are those of CIFAR-10, else items."""
        opened = self.looked.opened
        return noun_of(are_images=opened.images is not None or opened.numbered is not None)

    @property
    def targets(self) -> str:
        """All, or the first of very many, as TOML."""
        many = self.looked.n_targets > ALL_TARGETS
        return literal(list(range(FIRST_TARGETS)) if many else "all")

    @property
    def k(self) -> int:
        """Helpers and hurters of a target: 5, or fewer of few images."""
        return max(1, min(5, self.looked.n_train // 4))


def report_name(folder: Path) -> str:
    """A name for a folder and an address.

    >>> report_name(Path("runs/My models (v2)"))
    'My-models-v2'
    """
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name)[:LONGEST].strip("-._") or "my-models"
    return f"{words}-own" if words in named_configs() else words


def init_lines(folder: Path, out: Path | None) -> Iterator[str]:
    """The table, what is assumed and proposed; and the file, which is never written over."""
    out = Path(f"{report_name(folder)}.toml") if out is None else out
    check_place(out, "--out")
    if out.exists():
        raise BadInputError(f"{out} is there already; name another file: --out FILE.toml.")
    if out.suffix != ".toml":
        raise BadInputError(f"--out {out} must end in .toml, for `run --config` to take it as a file.")
    _refuse_name(folder)
    proposal = propose(folder)
    layout = layout_of(proposal.looked.config.source)
    yield f"{folder}: {layout.title} ({layout.name})"
    yield from survey_lines(proposal.looked)
    make_folder(out.parent, "--out")
    with whole_file(out) as temporary:
        temporary.write_text(toml_text(proposal), encoding="utf-8")
        looked = replace(proposal.looked, config=load_config(str(temporary), ()))
        said, works = _working(looked)
    yield from said
    after = "Next" if works else "When that is mended"
    yield f"Written: {out}. {after}: datamodels-inf {'run' if works else 'check'} --config {out}"


def _refuse_name(folder: Path) -> None:
    """A configuration is text: a name that is none cannot stand in it."""
    try:
        str(folder).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInputError(
            f"{str(folder)!a} has bytes in its name that are no UTF-8; give it another name."
        ) from error


def _working(looked: Looked) -> tuple[list[str], bool]:
    """What a run would do, or why it would be refused, and whether it would do it: the file is written either way, for
    the data may be mended."""
    try:
        return list(working_lines(looked)), True
    except BadInputError as error:
        return [f"A run would be refused now: {error}"], False


def propose(folder: Path) -> Proposal:
    """Of a folder in any layout."""
    percent = _percent(folder)
    config = _config(folder, percent, "top", False)
    looked = Looked.at(config, open_folder(config.source))
    found = {check.name for check in looked.premise.checks if check.found}
    group = not found.isdisjoint(REPEATED)
    if group:
        looked = replace(looked, config=_config(folder, percent, "top", True))
    design = _design(looked)
    looked = replace(looked, config=_config(folder, percent, design, group))
    return Proposal(folder, percent, looked, design, group)


def _config(folder: Path, percent: int, design: str, group: bool) -> Config:
    """As far as it says how rows are divided. No images of a grid: it is not drawn by this one."""
    test = {"design": design} if design != "grid" else {"design": design, "images": [0, 1]}
    source = {"kind": "files", "folder": str(folder), "percent": percent, "group_by_mask": group}
    return Config.model_validate({"source": source, "test": test})


def _percent(folder: Path) -> int:
    """Which of MadryLab's sets lies there; it matters to no other layout."""
    for percent in PERCENTS:
        config = _config(folder, percent, "top", False)
        try:
            layout_of(config.source)
        except BadInputError:
            continue
        return percent
    layout_of(_config(folder, PERCENTS[0], "top", False).source)  # Says what is missing.
    raise AssertionError("unreachable")


def _design(looked: Looked) -> str:
    """All pairs of few images; else those that the fit ranks highest, unless only pairs of a class can be tested."""
    n, t = looked.n_train, looked.n_targets
    if looked.premise.law == "stratified":
        return "paper"
    return "grid" if n * (n - 1) // 2 * t <= GRID_TESTS or n < 8 else "top"


def toml_text(proposal: Proposal) -> str:
    """The configuration, with a comment for each setting and alternatives commented out."""
    return "\n".join([*_head(proposal), *_source(proposal), *_fit(proposal), *_test(proposal), *_rest(proposal), ""])


def _line(setting: str, why: str) -> str:
    return f"{setting:<{SLOT}}  # {why}"


def _head(proposal: Proposal) -> Iterator[str]:
    looked = proposal.looked
    yield (
        f"# {proposal.name}: {looked.opened.masks.n_models:,} models of {looked.n_train:,} training {proposal.noun}s, "
        f"{looked.n_targets:,} targets. Made by `datamodels-inf init`."
    )
    yield "# Paths are relative to the folder that datamodels-inf is run in. All settings: docs/configuration.md."
    yield ""


def _source(proposal: Proposal) -> Iterator[str]:
    looked = proposal.looked
    chosen = DESIGNS[proposal.design].chosen_by_fit
    rule = "half, as the fit chooses the pairs" if chosen else f"√(dN/2) of N models of d {proposal.noun}s, at most N/4"
    whole = f"{looked.n_fit + looked.n_held_out:,} {'different masks' if proposal.group else 'models'}"
    yield "[source]"
    yield 'kind = "files"'
    yield _line(f"folder = {literal(str(proposal.folder))}", "docs/own-data.md says what may lie in it")
    if proposal.percent != PERCENTS[0]:
        yield _line(f"percent = {proposal.percent}", "of MadryLab's sets, the one that lies there")
    yield _line(f"fit_rows = {looked.n_fit}", f"of {whole}, by the rule of docs/rows.md: {rule}")
    yield _line(f"held_out_rows = {looked.n_held_out}", "the others test; without these two lines the rule decides")
    if proposal.group:
        yield _line("group_by_mask = true", "masks stand in several rows: their outcomes are averaged, and count once")
    else:
        yield _line("# group_by_mask = true", "if one mask was trained with several seeds")
    if looked.labels is None:
        yield _line(
            '# labels = "labels.npz"', "train_labels, target_labels, class_names; then pairs can be drawn by class"
        )
    if looked.opened.images is None:
        yield _line('# images = "images.npz"', "train, targets (uint8) and labels: the report shows the images")
    yield ""


def _fit(proposal: Proposal) -> Iterator[str]:
    weights = proposal.looked.opened.weights
    yield "[fit]"
    yield _line('mode = "lasso"', "a datamodel of each target, on the fit rows alone")
    if weights is not None:
        yield _line('# mode = "load"', "or the weights that lie there; if they have seen the tested rows,")
        yield _line(f"# file = {literal(str(weights))}", "no p-value is valid: hold rows out of that regression, too")
    else:
        yield _line('# mode = "load"', "or scores of any attribution method, made without the tested models:")
        yield _line('# file = "scores.npy"', "(training items, targets)")
        yield _line("# calibrate = true", "for scores on a scale of their own")
    yield ""


def _test(proposal: Proposal) -> Iterator[str]:
    looked = proposal.looked
    yield "[test]"
    if proposal.design == "grid":
        yield _line('design = "grid"', f"every two {proposal.noun}s on every target: there are few enough")
        yield f"images = {literal(list(range(looked.n_train)))}"
    elif proposal.design == "top":
        yield _line('design = "top"', "the strongest helpers and hurters of each target: of all designs the one that")
        yield _line(f"k = {proposal.k}", f"asks most about {proposal.noun}s that matter; it needs no labels")
        partners = max(1, min(5, looked.n_train - 2 * proposal.k))
        yield _line(
            f"random_partners = {partners}", f"each helper also against so many {proposal.noun}s that are neither"
        )
    else:
        yield _line(
            'design = "paper"', "the masks hold so many of each class: only pairs within a class can be tested,"
        )
        yield _line("repeats = 20", 'and these draws have some of every class; test.design = "list" takes your own')
    if proposal.design in ("grid", "top"):
        why = (
            "each is fitted and tested"
            if looked.n_targets <= ALL_TARGETS
            else f"the first of {looked.n_targets:,}: each needs a fit"
        )
        yield _line(f"targets = {proposal.targets}", why)
    if looked.labels is not None:
        wanted = looked.labels.class_names[int(looked.labels.target_labels[0])]
        if proposal.design == "paper":
            yield _line(f"target_class = {literal(wanted)}", one_line(f"of {', '.join(looked.labels.class_names)}"))
        else:
            yield _line('# design = "paper"', "or random pairs of every two classes, on targets of one")
            yield _line(f"# target_class = {literal(wanted)}", "(without k, random_partners and targets)")
    yield _line('method = ["contrast", "paired"]', 'the two with the most power; "swap" is the paper\'s own')
    yield _line("alpha = 0.1", "false discovery rate: this share of a method's findings may be false, on average")
    yield _line('correction = "by"', 'Benjamini–Yekutieli: holds however tests depend; "closed-by" finds no fewer')
    yield _line('# rows = "progressive"', "every model but the first tests, without fit_rows and held_out_rows")
    yield ""


def _rest(proposal: Proposal) -> Iterator[str]:
    looked = proposal.looked
    title = f"{proposal.name}: which of {looked.n_train:,} training {proposal.noun}s matter?"
    yield "[atlas]"
    yield _line(
        'targets = "needed"', f"the influence of every single {proposal.noun} on the tested targets, with intervals"
    )
    yield ""
    yield "[report]"
    yield _line(f"name = {literal(proposal.name)}", "the folder under reports/")
    yield f"title = {literal(title)}"
