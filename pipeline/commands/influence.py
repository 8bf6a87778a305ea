"""`datamodels-inf influence`: the strongest influences of a target, or of a training image, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from datamodels_inf.findings import MARGINAL, error_rate
from datamodels_inf.internal.checks import Ints
from pipeline.commands.aligned import aligned, headed, named
from pipeline.commands.estimated import Estimated, Single
from pipeline.text.csv_text import Cell, csv_line
from pipeline.text.interval_levels import coverage, level_text
from pipeline.text.numbers import counted, terminal_pvalue

NUMBERS = (
    "estimate", "standard_error", "low", "high", "low_selected", "high_selected", "pvalue", "finding", "theta", "rank",
    "rank_low", "rank_high",
)  # fmt: skip
CSV_COLUMNS = ("image", "target", "class_image", "class_target", *NUMBERS, "words")
HEADER = ("estimate", "95 % interval", "as a finding", "p", "finding", "θ̂", "rank among the {noun}s of the target")
FAMILIES = {
    "target": 'corrected over the {noun}s of each target (atlas.family = "target")',
    "all": 'corrected over all {noun}s and targets of the atlas (atlas.family = "all")',
}
NOTHING = "none"


def influence_lines(
    estimated: Estimated, *, target: str | None, image: str | None, top: int, as_csv: bool
) -> Iterator[str]:
    """The strongest influences on a target or of a training image, or the one of both, as tables or as CSV."""
    place = None if target is None else estimated.find_place(target)
    number = None if image is None else estimated.find_image(image)
    parts = _parts(estimated, place, number, top)
    if as_csv:
        columns = (*CSV_COLUMNS, *estimated.data.names.columns(train=("name_image",), targets=("name_target",)))
        yield csv_line(columns)
        yield from (csv_line(_csv_values(single, columns)) for single in chain(*parts.values()))
        return
    yield from _first_lines(estimated, place, number)
    for title, singles in parts.items():
        yield ""
        yield title if singles else f"{title} {NOTHING}"
        if singles:
            yield from _table(estimated, singles, by_target=place is None)


def _parts(estimated: Estimated, place: int | None, image: int | None, top: int) -> dict[str, list[Single]]:
    """Tables to show, with their titles."""
    if place is None:
        assert image is not None  # One of the two is given.
        return _parts_of_image(estimated, image, top)
    if image is not None:
        return {"This influence:": list(estimated.singles(place, np.array([image])))}
    sides = estimated.strongest_images(place, top)
    singles = iter(list(estimated.singles(place, np.concatenate(sides))))
    helpers, hurters = ([next(singles) for _ in side] for side in sides)
    up, down = _verbs(estimated)
    return {
        f"Strongest helpers, by estimate (training on them {up}):": helpers,
        f"Strongest hurters, by estimate (training on them {down}):": hurters,
    }


def _verbs(estimated: Estimated) -> tuple[str, str]:
    """What a helper does to the outcome, and what a hurter does: "raises the margin", "lowers the margin"."""
    both = f"raises the {estimated.outcome}", f"lowers the {estimated.outcome}"
    return both if estimated.higher_is_better else both[::-1]


def _parts_of_image(estimated: Estimated, image: int, top: int) -> dict[str, list[Single]]:
    sides = estimated.strongest_places(image, top)
    # So that the ranks on all targets hold together, of which these were picked.
    shared = 1.0 - (1.0 - MARGINAL) / max(1, estimated.summary.n_targets)

    def on(places: Ints) -> list[Single]:
        return [*chain(*(estimated.singles(place, np.array([image]), shared) for place in places.tolist()))]

    helped, hurt = map(on, sides)
    up, down = _verbs(estimated)
    return {
        f"Targets that it helps most, by estimate (training on it {up}):": helped,
        f"Targets that it hurts most, by estimate (training on it {down}):": hurt,
    }


def _first_lines(estimated: Estimated, place: int | None, image: int | None) -> Iterator[str]:
    """What is estimated, what is found, and how far all that can be trusted."""
    n_models = estimated.atlas.summary.n_models
    if estimated.warning:
        yield f"Warning: p-values may not be valid: {estimated.warning}"
    if place is None:
        assert image is not None
        yield from _about_image(estimated, image)
    else:
        yield from _about_target(estimated, place)
    yield f"p-values, intervals and ranks are asymptotic: they rest on {n_models:,} held-out models being many"
    yield _intervals(estimated, place)
    yield f"Ranks: all that are shown hold together with 95 % confidence; 1 is the most helpful {estimated.data.noun}"


def _family(estimated: Estimated) -> str:
    return FAMILIES[estimated.summary.family].format(noun=estimated.data.noun)


def _about_target(estimated: Estimated, place: int) -> Iterator[str]:
    n_found, n_nonzero, n_stand = (int(estimated.counts[name][place]) for name in ("n_found", "n_nonzero", "n_stand"))
    target, n_train = estimated.atlas.summary.targets[place], estimated.data.n_train
    yield (
        f"Target {estimated.named_target(target)}: {n_found:,} of {n_train:,} training {estimated.data.noun}s "
        f"influence it, {error_rate(estimated.config.test)}, {_family(estimated)}"
    )
    yield f"Of the {n_nonzero:,} nonzero weights of its datamodel {n_stand:,} stand the test"
    unknown = int(np.count_nonzero(~np.isfinite(estimated.atlas.of_target(place)[1])))
    if unknown:
        whose = counted(unknown, estimated.data.noun)
        yield f"Not known is the influence of {whose}, which every held-out model saw, or none"


def _about_image(estimated: Estimated, image: int) -> Iterator[str]:
    raised, lowered = (int(estimated.counts[name][image]) for name in ("raised", "lowered"))
    yield (
        f"Training {estimated.data.noun} {estimated.named_image(image)} influences {raised + lowered:,} of "
        f"{estimated.summary.n_targets:,} targets: it raises the {estimated.outcome} on {raised:,} and lowers that on "
        f"{lowered:,}, "
        f"{error_rate(estimated.config.test)}, {_family(estimated)}"
    )
    if estimated.summary.family == "target":
        yield "Each target is a family of its own: the share of false findings among these targets is not controlled"
    n_nonzero, n_stand = estimated.weights_of_image(image)
    yield f"Of its {n_nonzero:,} nonzero weights in the datamodels of these targets {n_stand:,} stand the test"
    if np.isinf(estimated.atlas.of_image(image)[1]).all():
        yield f"Its influence is not known: every held-out model saw the {estimated.data.noun}, or none did"


def _intervals(estimated: Estimated, place: int | None) -> str:
    """What the two intervals promise."""
    places = range(estimated.summary.n_targets) if place is None else [place]
    ranges = (estimated.found.level_range(k) for k in places if estimated.n_found(k))
    levels = sorted({level for both in ranges for level in both})
    first = f"95 % interval: for an {estimated.data.noun} named in advance"
    if not levels:
        return first
    if place is None and estimated.summary.family == "target":
        return f"{first}. As a finding: longer, each for the findings of its own target; over targets nothing holds"
    ends = dict.fromkeys(level_text(level) for level in (levels[0], levels[-1]))
    whom = f"As a finding ({' to '.join(ends)})" if levels[-1] > MARGINAL else "It holds for findings too"
    return f"{first}. {whom}: {coverage(estimated.config.test, 'influence')}"


def _table(estimated: Estimated, singles: Sequence[Single], *, by_target: bool) -> Iterator[str]:
    """Two lines an influence: its numbers, and what they say."""
    data = estimated.data
    head, own = ("target", data.names.targets) if by_target else (data.noun, data.names.train)
    first = headed(head, names=bool(own), classes=data.labels is not None)
    cells = [[first, *(text.format(noun=data.noun) for text in HEADER)]]
    for single in singles:
        target = single.target, single.name_target or single.class_target
        image = single.image, single.name_image or single.class_image
        cells.append([named(*(target if by_target else image)), *_cells(single)])
    header, *lines = aligned(cells)
    yield header
    for single, line in zip(singles, lines, strict=True):
        yield line
        yield f"    {single.words}"


def _cells(single: Single) -> list[str]:
    known = f"{single.low:.3g} to {single.high:.3g}" if single.known else "not known"
    selected = f"{single.low_selected:.3g} to {single.high_selected:.3g}" if single.finding else "–"
    verdict = "yes" if single.finding else "no"
    p = terminal_pvalue(single.pvalue)
    estimate = f"{single.estimate:.3g}" if single.known else "–"
    return [estimate, known, selected, p, verdict, f"{single.theta:.3g}", single.rank_words]


def _csv_values(single: Single, columns: Sequence[str]) -> list[Cell]:
    """Infinite and unknown numbers as nothing."""
    values = (getattr(single, name) for name in columns)
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]
