"""The report of an analysis that was made in memory: the same page as that of a run, from `datamodels_inf.analyse`.

`Analysis.report` finds `write` as the entry point "page" of the group "datamodels_inf.report": the library knows no
pipeline.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.analysis.display import direction
from datamodels_inf.analysis.influences import InfluencesOn
from datamodels_inf.analysis.premise import spoils_of_influences
from datamodels_inf.analysis.result import Analysis
from datamodels_inf.analysis.testing import tested_blocks
from datamodels_inf.findings import Family, counts_by_correction, finding_level
from datamodels_inf.influence import influence_pvalue
from datamodels_inf.internal.checks import Floats, Ints, check_flag, check_integer
from pipeline.columns import TableColumns
from pipeline.config import TITLE
from pipeline.images.item_names import ItemNames
from pipeline.report import write_report
from pipeline.report.content import Blocks, Coding, Content, DatamodelQuality, Growth, Images, MaskCheck
from pipeline.report.evidence.curves import HeldOut
from pipeline.report.evidence.influences import Estimates, FoundAtlas
from pipeline.report.evidence.shown import evidence_of
from pipeline.report.groups import Group, group_of
from pipeline.report.limits import panels_of_each
from pipeline.report.rows import COLUMNS
from pipeline.stages.fit.quality import median_known, quality_arrays
from pipeline.store.cache import versions
from pipeline.store.listed_files import LISTED, blocked, listed_files, write_list
from pipeline.text.given_names import outcome_name
from pipeline.text.nouns import worded
from pipeline.text.numbers import or_nan

DECIDED = ("finding", "weight", "n_rows", "pvalue_adjusted", "effect_low_selected", "effect_high_selected")
UNDECIDED = frozenset(COLUMNS) - {"method", *DECIDED}
"""The columns of tests before the correction."""


def write(
    result: Analysis, folder: Path, *, title: str | None = None, max_panels: int = 50, overwrite: bool = False
) -> Path:
    """Write the page and its files into a new or empty folder, or with `overwrite` in place of a report; the page."""
    if title is not None and not isinstance(title, str):
        raise ValueError(f"`title` must be a text, but it is {title!r}.")
    check_integer("max_panels", max_panels, 0)
    old = _files_of(folder, check_flag("overwrite", overwrite))
    content = content_of(result, title or worded(TITLE, result.items.noun), max_panels)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as beside:
        made = Path(beside)
        files = [path.relative_to(made) for path in write_report(made, content)]
        for earlier in old:
            (folder / earlier).unlink(missing_ok=True)
        for name in files:  # The page is the last: where it stands, the report is whole.
            (folder / name).parent.mkdir(exist_ok=True)
            (made / name).replace(folder / name)
    write_list(folder / LISTED, (name.as_posix() for name in files))
    return folder / "index.html"


def _files_of(folder: Path, overwrite: bool) -> list[str]:
    """Those of the report that the folder holds; nothing that is not ours is ever removed."""
    problem = blocked(folder)
    if problem:
        raise ValueError(f"`folder` cannot hold a report: {problem}.")
    if not folder.is_dir() or not any(folder.iterdir()):
        return []
    if not (folder / LISTED).is_file():
        raise ValueError(f"`folder` must be new or empty, but {folder} holds other things; name another.")
    if not overwrite:
        raise ValueError(f"{folder} holds a report already; say overwrite=True to replace it, or name another folder.")
    return listed_files(folder)


def content_of(result: Analysis, title: str, max_panels: int) -> Content:
    """All that the page shows."""
    settings, division, items = result.settings, result.division, result.items
    groups = _groups(result)
    most = panels_of_each(groups, max_panels)
    drawn = [item.row for group in groups for item in group.drawn(most)]
    start, stop = division.tested
    tested = result.data.masks.rows(start, stop)
    prepared = partial(tested_blocks, result.data, division, result.fitted)
    held_out = HeldOut(tested, prepared, result.fitted.datamodel, result.fitted.targets, settings.order, settings.seed)
    found = _found_atlas(result, held_out)
    return Content(
        title=title,
        groups=groups,
        images=_images(result),
        alpha=settings.alpha,
        correction=settings.correction,
        n_models_fit=division.fit,
        n_models_test=division.n_tested,
        blocks=_blocks(result),
        counts={group.method: counts_by_correction(group.pvalue, settings, None) for group in groups},
        growth=_growth(result),
        n_train=items.n_train,
        r2_median=_median(result.judged.r2),
        spearman_median=_median(result.judged.spearman),
        quality=_quality(result),
        mask_law=result.premise.law,
        masks=MaskCheck(result.premise, tested.column_sums(), settings.order == "permuted"),
        coding=_coding(result),
        class_names=items.class_names,
        train_classes=() if items.train_labels is None else [items.class_of("train", k) for k in range(items.n_train)],
        **evidence_of(
            drawn,
            held_out,
            items.class_of,
            found,
            higher_is_better=settings.more_is_better,
        ),
        max_panels=max_panels,
        unit=outcome_name(settings.outcome),
        higher_is_better=settings.more_is_better,
        names=ItemNames(*(names or () for names in items.names)),
        tau=settings.tau,
        provenance=_provenance(result),
        configuration=_call(result),
        in_memory=True,
    )


def _groups(result: Analysis) -> tuple[Group, ...]:
    """The tests of each method; the correction is asked again, and says the same."""
    groups = []
    for method in result.settings.method:
        own = result.table["method"] == method
        columns = TableColumns.of({name: values[own] for name, values in result.table.items() if name in UNDECIDED})
        family = Family(columns.column("pvalue"), result.settings)
        groups.append(group_of(method, columns, family, result.division.rows_of(method)))
    return tuple(groups)


def _images(result: Analysis) -> Images | None:
    """The pictures, where both parts have some: of one alone the other would be grey tiles."""
    train, targets = result.items.images
    return None if train is None or targets is None else Images(train, targets)


def _blocks(result: Analysis) -> Blocks | None:
    division, fitted = result.division, result.fitted
    if len(division.blocks) == 1:
        return None
    r2 = []
    for rows, datamodel in zip(division.blocks, fitted.datamodels, strict=True):
        outcomes = result.data.outcomes_of(rows, fitted.targets)
        r2.append(_median(datamodel.quality(result.data.masks.rows(*rows), outcomes).r2))
    of_method = {method: division.rows_of(method) for method in result.settings.method}
    return Blocks(division.fit, division.sizes, of_method, tuple(r2))


def _growth(result: Analysis) -> dict[str, Growth]:
    """By method, the findings that the models up to each block would have had."""
    models = tuple(np.cumsum(result.division.sizes).tolist())
    return {
        method: Growth(models, tuple(Family(p, result.settings).n_found for p in after.T))
        for method, after in result.growth.items()
    }


def _quality(result: Analysis) -> DatamodelQuality:
    fitted, rows = result.fitted, result.division.blocks[-1]
    masks, outcomes = result.data.masks.rows(*rows), result.data.outcomes_of(rows, fitted.targets)
    arrays = quality_arrays(fitted.datamodel, result.judged, fitted.targets, fitted.gap, masks, outcomes)
    classes = [result.items.class_of("target", target) for target in fitted.targets.tolist()]
    return DatamodelQuality(**arrays, classes=classes, loaded=not result.fitted_here, n_at_end=fitted.n_at_end)


def _coding(result: Analysis) -> Coding:
    found, unknown = result.fitted.coding, float("nan")
    if found is None:
        return Coding("mask", unknown, unknown, unknown)
    return Coding(found.coding, found.mse_mask, found.mse_signed, found.constant_mse, result.division.fit)


def _found_atlas(result: Analysis, held_out: HeldOut) -> FoundAtlas | None:
    """The influences of all images on the tested targets; none of masks that are stratified by class."""
    if result.premise.law == "stratified" and not result.settings.allow_unexchangeable:
        return None
    targets = np.unique(result.pairs.target)
    atlas = _Atlas(result, targets)
    return FoundAtlas(
        targets=targets,
        of_target=atlas.of_target,
        of_image=atlas.of_image,
        is_finding=lambda place, images: atlas.found[place, images],
        pvalue=atlas.pvalue,
        level_at_one=atlas.levels,
        levels=lambda place, images: np.full(len(images), atlas.levels[place]),
        n_found=atlas.found.sum(axis=1),
        n_nonzero=np.count_nonzero(atlas.theta, axis=1),
        n_stand=np.count_nonzero(atlas.found & (atlas.theta * atlas.estimate > 0.0), axis=1),
        raised=np.count_nonzero(atlas.found & (atlas.estimate > 0.0), axis=0),
        lowered=np.count_nonzero(atlas.found & (atlas.estimate < 0.0), axis=0),
        family="target",
        alpha=result.settings.alpha,
        correction=result.settings.correction,
        held_out=held_out,
        names=result.items.class_of,
        threads=result.threads,
        warning=spoils_of_influences(result.premise) if result.settings.allow_unexchangeable else "",
        higher_is_better=result.settings.more_is_better,
    )


class _Atlas:
    """Row k of (targets, n_train) arrays belongs to the k-th target."""

    def __init__(self, result: Analysis, targets: Ints) -> None:
        self.on: list[InfluencesOn] = result.influences.on(targets)
        self.estimate, self.error = (
            np.stack([getattr(one, n) for one in self.on]) for n in ("estimate", "standard_error")
        )
        self.found = np.stack([one.family.found for one in self.on])
        self.theta = result.fitted.datamodel.weight[:, result.fitted.places(targets)].T
        rule, d = result.settings, result.items.n_train
        counts = self.found.sum(axis=1).tolist()
        self.levels = np.array([finding_level(rule.correction, rule.alpha, d, count) for count in counts])

    def of_target(self, place: int) -> Estimates:
        return self.estimate[place].astype(np.float32), self.error[place].astype(np.float32)

    def of_image(self, image: int) -> Estimates:
        return self.estimate[:, image].astype(np.float32), self.error[:, image].astype(np.float32)

    def pvalue(self, place: int, estimate: NDArray[Any], error: NDArray[Any]) -> Floats:
        return influence_pvalue(estimate, error, self.on[place].n_models, self.on[place].tail)


def _call(result: Analysis) -> str:
    return f"analyse({', '.join(['masks', 'outcomes', *filter(None, [result.settings.as_text()])])})"


def _provenance(result: Analysis) -> dict[str, str]:
    lines = {
        "Made by": f"{_call(result)}, in memory",
        "Versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        "Outcome": direction(result),
        "Seed": f"{result.settings.seed} (drawing of pairs, order of the rows, coins for ties)",
    }
    if result.warning:
        lines["Warning"] = (
            f"the masks failed the check of their premise, so p-values may not be valid: {result.warning}"
        )
    return lines


def _median(values: Floats) -> float:
    return or_nan(median_known(values))
