"""What `analyse` gives: findings, tests, influences and quality as tables, a picture for a notebook, and a report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.analysis import display
from datamodels_inf.analysis.division import Division
from datamodels_inf.analysis.fitting import Fitted
from datamodels_inf.analysis.influences import STRATIFIED, TestedInfluences
from datamodels_inf.analysis.inputs import Data
from datamodels_inf.analysis.items import Items
from datamodels_inf.analysis.premise import spoils_of_tests
from datamodels_inf.analysis.settings import Settings
from datamodels_inf.datamodel import Quality
from datamodels_inf.designs.pairs import Pairs
from datamodels_inf.exchangeability import ExchangeabilityReport
from datamodels_inf.findings import finding_order
from datamodels_inf.internal.checks import Floats, Ints

if TYPE_CHECKING:
    from pandas import DataFrame

REPORTS = "datamodels_inf.report"
"""The group of entry points of which one writes reports: a function of an `Analysis`, a folder, and options."""
FIRST = (
    "method", "i", "j", "target", "name_i", "name_j", "name_target", "class_i", "class_j", "class_target", "statistic",
    "pvalue", "pvalue_adjusted", "finding", "effect", "effect_low", "effect_high", "effect_low_selected",
    "effect_high_selected", "effect_se", "effect_df", "theta_i", "theta_j", "n_rows", "n_informative", "members_i",
    "members_j", "note",
)  # fmt: skip
"""The columns of the tables of tests, in their order; those of which nothing is known are left out."""


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What `analyse` found: a test is a finding if its p-value, adjusted over all tests of its method, is ≤ α.

    `findings()`, `tests()`, `influence(target)` and `quality` are tables, `report(folder)` writes the page.

    data: masks and outcomes of all models, and what is known of images and targets. division: which rows were fitted
    and which tested. premise: what the tested masks say about their law. fitted: the datamodels. pairs: the design.
    table: by column, all tests, with what the correction makes of them. growth: by method, p-values after each block of
    rows, where there are several. fitted_here: θ̂ is a LASSO of the first rows, and was not given.
    """

    data: Data
    settings: Settings
    division: Division
    premise: ExchangeabilityReport
    fitted: Fitted
    pairs: Pairs
    table: dict[str, NDArray[Any]]
    growth: dict[str, Floats]
    threads: int
    fitted_here: bool

    @property
    def items(self) -> Items:
        """What is known of training images and targets."""
        return self.data.items

    def tests(self) -> DataFrame:
        """All tests, one row per method and pair, in the order of the design.

        effect: of training on i instead of j, in the unit of the outcome; effect_low, effect_high: its 95 % interval,
        effect_low_selected, effect_high_selected: the longer one of a finding, which makes up for the selection.
        """
        return self._frame(np.arange(len(self.table["pvalue"])))

    def findings(self, method: str | None = None) -> DataFrame:
        """The findings, the smallest p-values first, each with its number and a sentence; of one method, or of all."""
        methods = self.settings.method if method is None else (method,)
        if not set(methods) <= set(self.settings.method):
            raise ValueError(f"`method` must be one of {', '.join(self.settings.method)}, but it is {method!r}.")
        order = np.concatenate([self.order_of(name, findings=True) for name in methods])
        frame = self._frame(order)
        numbers = [number for name in methods for number in range(1, 1 + len(self.order_of(name, findings=True)))]
        frame.insert(0, "number", numbers)
        frame["words"] = [display.in_words(self, place) for place in order.tolist()]
        return frame

    def influence(self, target: int | str = 0) -> DataFrame:
        """Of every training image on a target, with its error bar: of training on it instead of an average other one.

        The most helpful first. estimate: in the unit of the outcome; low, high: its 95 % interval; finding: whether
        its p-value, adjusted over all images of this target, is at most alpha; low_selected, high_selected: the longer
        interval of a finding. theta: the image's weight in the datamodel. p-values and intervals are asymptotic.
        """
        from pandas import DataFrame

        number = self._fitted_target(target)
        (found,) = self.influences.on(np.array([number]))
        columns = found.columns(self._theta(number))
        order = np.argsort(columns["estimate"] * (-1.0 if self.settings.more_is_better else 1.0), kind="stable")
        known = np.isfinite(columns["standard_error"][order])
        order = np.concatenate([order[known], order[~known]])
        frame = DataFrame({name: values[order] for name, values in columns.items()})
        for name, of in (("class_image", self.items.class_of), ("name", self.items.name_of)):
            words = [of("train", image) for image in order.tolist()]
            if any(words):
                frame.insert(1, name, words)
        return frame

    @cached_property
    def influences(self) -> TestedInfluences:
        """What `influence` asks; refused for masks that are stratified by class."""
        if self.premise.law == "stratified" and not self.settings.allow_unexchangeable:
            raise ValueError(f"{STRATIFIED}.")
        return TestedInfluences(self.data, self.division, self.fitted, self.settings, self.threads)

    @cached_property
    def judged(self) -> Quality:
        """How well the datamodels predict the outcomes of tested models; of several blocks, of the last."""
        rows = self.division.blocks[-1]
        outcomes = self.data.outcomes_of(rows, self.fitted.targets)
        return self.fitted.datamodel.quality(self.data.masks.rows(*rows), outcomes)

    @property
    def quality(self) -> DataFrame:
        """Of each target R², Spearman's rank correlation (the linear datamodeling score) and the nonzero weights."""
        from pandas import DataFrame

        targets = self.fitted.targets
        frame = DataFrame({
            "target": targets,
            "r2": self.judged.r2,
            "spearman": self.judged.spearman,
            "n_nonzero": self.fitted.datamodel.n_nonzero,
        })  # fmt: skip
        names = [self.items.name_of("target", target) for target in targets.tolist()]
        if any(names):
            frame.insert(1, "name", names)
        return frame

    @property
    def warning(self) -> str:
        """What spoils the p-values, where `allow_unexchangeable` let it pass; empty for nothing."""
        settings = self.settings
        return spoils_of_tests(self.premise, settings.order, settings.method) if settings.allow_unexchangeable else ""

    def report(
        self, folder: str | Path, *, title: str | None = None, max_panels: int = 50, overwrite: bool = False
    ) -> Path:
        """Write the whole report, a page that opens without a network, into a new or empty folder; returns the page.

        max_panels: findings of each method that get a panel. overwrite: replace a report that is there already.
        """
        found = list(entry_points(group=REPORTS))
        if not found:
            raise RuntimeError(
                "no installed package writes reports: install datamodels-inf again (pip install datamodels-inf), "
                "so that its entry points are known."
            )
        if not isinstance(folder, (str, Path)):
            raise ValueError(f"`folder` must be a path, but it is {folder!r}.")
        page: Path = found[0].load()(self, Path(folder), title=title, max_panels=max_panels, overwrite=overwrite)
        return page

    def order_of(self, method: str, *, findings: bool) -> Ints:
        """The places in `table` of a method's tests, or findings alone, as they are numbered."""
        own = self.table["method"] == method
        places = np.flatnonzero(own & self.table["finding"] if findings else own)
        return places[finding_order(*(self.table[name][places] for name in ("pvalue", "effect", "target", "i", "j")))]

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)

    def _fitted_target(self, target: int | str) -> int:
        number = self.items.find("target", target)
        if number not in self.fitted.targets:
            raise ValueError(f"target {target!r} has no datamodel: it was not among `targets`, or those of `pairs`.")
        return number

    def _theta(self, target: int) -> Floats:
        (place,) = self.fitted.places(np.array([target]))
        return self.fitted.datamodel.weight[:, place].astype(np.float64)

    def _frame(self, places: Ints) -> DataFrame:
        from pandas import DataFrame

        columns = {name: values[places] for name, values in self.table.items()}
        for side, part in (("i", "train"), ("j", "train"), ("target", "target")):
            columns[f"name_{side}"] = np.array(
                [self.items.name_of(part, index) for index in columns[side].tolist()], object
            )
        if (self.pairs.sizes == 1).all():
            del columns["members_i"], columns["members_j"]
        empty = [name for name in columns if name.startswith(("name_", "class_")) and not any(columns[name])]
        return DataFrame({name: columns[name] for name in FIRST if name in columns and name not in empty})
