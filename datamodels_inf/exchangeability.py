"""Do these masks keep the premise of the tests?

Every p-value rests on three things: rows are independent, the law of a mask does not change when images i and j are
exchanged, and θ̂ has not seen the tested rows. Given its size S, an exchangeable mask is uniform among the masks of that
size, whatever the law of S; all that is checked here follows from this, and holds for masks of a fixed size, for
independent coins, and for anything between.

Where classes are known and the masks treat them differently (so many of each class in every mask), the masks may still
be exchangeable *within* a class: everything else is then checked within the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from datamodels_inf.internal import mask_laws, row_laws
from datamodels_inf.internal.checks import Ints, as_array, check_fraction, some_of
from datamodels_inf.internal.mask_laws import Rows
from datamodels_inf.masks import PackedMasks, complement_hashes, row_hashes

Law: TypeAlias = Literal["fixed-size", "bernoulli", "stratified"]
Spoils: TypeAlias = Literal["every test", "tests across classes", "the given order"]

CLASS_ROWS = 2000
"""With fewer tested rows, fit rows too are asked whether the masks are stratified by class."""
FIT_ROWS = 50_000
"""Of the fit rows, so many are asked how often they use each image."""


@dataclass(frozen=True)
class Check:
    """One consequence of the premise, held against the masks.

    name: what is looked at. pvalue: the chance of a deviation as large, if the premise holds.
    found: what contradicts the premise, if that chance is too small; else empty.
    notices: the smallest deviation that would have been noticed with these n and d.
    spoils: which tests are not valid where something was found. "the given order" is that of `swap_test`.
    """

    name: str
    pvalue: float
    found: str
    notices: str
    spoils: Spoils = "every test"


@dataclass(frozen=True)
class ExchangeabilityReport:
    """What the masks say about their law, and whether they contradict the premise of the tests.

    law: "fixed-size" (every mask has the same number of ones), "bernoulli" (the number varies), or "stratified" (the
    masks treat the classes of the images differently: only pairs within a class can be tested).
    proportion: share of ones. smallest, largest: row sums. n, d: rows and columns.
    checks: all that was looked at, with what was found and what would have been noticed.

    >>> masks = np.random.default_rng(0).random((1000, 12)) < 0.5
    >>> masks[:, 5] = True
    >>> report = check_exchangeable(masks)
    >>> report.ok, report.reasons[0].partition(" (")[0]
    (False, 'column 5 is in 1,000 of 1,000 masks where 0.543 of them are expected')
    """

    law: Law
    proportion: float
    smallest: int
    largest: int
    n: int
    d: int
    checks: tuple[Check, ...]

    def found(self, spoils: Spoils) -> tuple[str, ...]:
        """What was found that spoils this."""
        return tuple(check.found for check in self.checks if check.found and check.spoils == spoils)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why no test would be valid, one sentence per contradiction; empty when there is none."""
        return self.found("every test")

    @property
    def ok(self) -> bool:
        """Whether the tests are valid: all of them, or within classes if the law is "stratified"."""
        return not self.reasons

    @property
    def tau_x(self) -> float:
        """0 for exchangeable masks, within classes if the law is "stratified"; NaN when the check failed."""
        return 0.0 if self.ok else float("nan")

    def testable(self, pairs: Ints, labels: Ints | None) -> NDArray[np.bool_]:
        """Which of the (P, 2, g) `pairs` the law allows: all, or those whose images are exchanged within a class."""
        if self.law != "stratified":
            return np.ones(len(pairs), np.bool_)
        if labels is None:
            raise ValueError("`labels` must be given: the masks are stratified by class.")
        return np.asarray((labels[pairs[:, 0]] == labels[pairs[:, 1]]).all(axis=1))


def check_exchangeable(
    masks: ArrayLike | PackedMasks,
    *,
    labels: ArrayLike | None = None,
    fit_masks: ArrayLike | PackedMasks | None = None,
    alpha: float = 1e-3,
) -> ExchangeabilityReport:
    """Detect the law of the tested 0/1 masks and check what the premise of the tests implies.

    Parameters
    ----------
    masks : (n, d), the rows to be tested.
    labels : (d,) classes of the images, as whole numbers. Without them, masks that are stratified by class are noticed
        only where n is large against d.
    fit_masks : the rows that θ̂ was fitted on: none of them may be among the tested, nor the complement of one.
    alpha : the chance of any contradiction when the premise holds, shared evenly by the checks.

    >>> rng = np.random.default_rng(0)
    >>> check_exchangeable(rng.random((1000, 40)).argsort(axis=1) < 20).law
    'fixed-size'
    >>> halves = rng.random((1000, 2, 20)).argsort(axis=2) < 10  # Ten of each class in every mask.
    >>> check_exchangeable(halves.reshape(1000, 40), labels=np.arange(40) // 20).law
    'stratified'
    """
    check_fraction("alpha", alpha)
    packed, fit = _packed("masks", masks), None if fit_masks is None else _packed("fit_masks", fit_masks)
    if packed.n_models == 0:
        raise ValueError("`masks` must be a non-empty (n, d) array, but it has no rows.")
    if fit is not None and fit.n_train != packed.n_train:
        raise ValueError(
            f"`fit_masks` must have {packed.n_train:,} columns as `masks` has, but it has {fit.n_train:,}."
        )
    classes = None if labels is None else _classes(labels, packed.n_train)
    level = alpha / (7 + (classes is not None) + 3 * (fit is not None))
    rows = Rows.of(packed, np.zeros(packed.n_train, np.int64))
    checks: list[Check] = []
    if classes is not None:
        by_class = Rows.of(packed, classes)
        few = 0 if fit is None else min(fit.n_models, max(0, CLASS_ROWS - packed.n_models))
        checks.append(_class_check(by_class.with_rows(Rows.of(fit[:few], classes)) if fit and few else by_class, level))
        rows = by_class if checks[0].found else rows
    checks += [
        _column_check(packed, rows, level),
        _pair_check(packed, rows, level),
        *_repeat_checks(packed, fit, rows, level),
        *([] if fit is None else [_fit_check(packed, fit, rows, level)]),
        _neighbour_check(packed, rows, level),
        _extreme_check(rows, level),
        _drift_check(rows, level),
    ]
    sizes = rows.sizes
    law: Law = "fixed-size" if sizes.min() == sizes.max() else "bernoulli"
    return ExchangeabilityReport(
        law="stratified" if rows.n_classes > 1 else law,
        proportion=float(sizes.mean() / rows.d),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        n=rows.n,
        d=rows.d,
        checks=tuple(checks),
    )


def _class_check(rows: Rows, level: float) -> Check:
    """Class sums given the size of the mask are hypergeometric; one class alone says nothing."""
    p, worst = mask_laws.class_pvalue(rows)
    sums = rows.sums[:, worst]
    size = int(rows.class_sizes[worst])
    if (rows.sums == rows.sums[0]).all():
        found = f"every mask holds the same number of images of each class (of class {worst}: {sums[0]:,} of {size:,})"
    else:
        found = (
            f"the number of images of a class in a mask does not vary as in exchangeable masks (of class {worst}: "
            f"{sums.mean():.4g} ± {sums.std():.3g} of {size:,}, {_p(p)})"
        )
    words = f"a variance of class sums that is off by {100.0 * mask_laws.noticed_variance(rows, level):.2g} %"
    if rows.n < mask_laws.FEWEST_ROWS:
        words = "only class sums that do not vary at all"
    return _check("Classes", p, level, found, words, spoils="tests across classes")


def _column_check(masks: PackedMasks, rows: Rows, level: float) -> Check:
    """Each image is in as many masks as the others (of its class), up to chance."""
    columns = masks.column_sums()
    p, worst, share, spread = mask_laws.column_pvalue(columns, rows)
    found = (
        f"the numbers of masks that the images are in differ {'more' if spread > 1 else 'less'} than by chance: their "
        f"variance is {spread:.3g} times that of exchangeable masks ({_p(p)})"
    )
    if mask_laws.is_outlier(columns, rows, worst, level):
        expected = f"where {share:.3f} of them are expected ({_p(p)})"
        found = f"column {worst} is in {columns[worst]:,} of {rows.n:,} masks {expected}"
    words = f"one image whose share of masks is off by {mask_laws.noticed_rate(rows, level):.2g}"
    return _check("Images", p, level, found, words, rows)


def _pair_check(masks: PackedMasks, rows: Rows, level: float) -> Check:
    """No two images go together, or apart, more than others."""
    law = mask_laws.pair_law(masks, rows)
    p = min(1.0, 2.0 * law.pvalue, 2.0 * law.pair_pvalue)
    found = (
        f"the squared correlations of {law.n_pairs:,} pairs of images are {law.ratio:.3g} times as large as in "
        f"independent exchangeable masks ({_p(p)}): images go together in blocks, or the rows are not independent"
    )
    if 2.0 * law.pvalue > level:
        found = (
            f"columns {law.pair[0]} and {law.pair[1]} are both in or both out in {law.together:,} of {law.n_rows:,} "
            f"masks where {law.expected:.0f} are expected ({_p(p)})"
        )
    noticed = mask_laws.noticed_pairs(rows.d, law, level)
    words = f"{noticed:,} of the {rows.d * (rows.d - 1) // 2:,} pairs of images always going together"
    if not mask_laws.notices_strata(rows.d, law, level):
        words += "; not ten strata, which only their labels show at this size"
    return _check("Pairs of images", p, level, found, words, rows)


def _repeat_checks(masks: PackedMasks, fit: PackedMasks | None, rows: Rows, level: float) -> list[Check]:
    """No mask stands twice among the tested ones, nor among the fit rows, nor with its complement, but by chance."""
    n = rows.n
    own, others = row_hashes(masks), complement_hashes(masks)
    equal, complement = row_laws.log_equal(rows), row_laws.log_complement(rows)
    n_repeated = n - len(np.unique(own))
    n_couples = int(np.isin(own, others).sum()) // 2
    p = row_laws.repeat_pvalue(n_repeated, n * (n - 1) / 2, equal)
    found = f"{n_repeated:,} of {n:,} masks repeat an earlier one ({_p(p)})"
    checks = [_check("Repeated masks", p, level, found, "one repeated mask")]
    if fit is not None:
        known = row_hashes(fit)
        for name, hashes, chance, what, notices in (
            ("Masks of the fit rows", own, equal, "also masks of fit rows", "one mask in both parts"),
            ("Complements of fit rows", others, complement, "complements of masks of fit rows", "one such mask"),
        ):
            count = int(np.isin(hashes, known).sum())
            p = row_laws.repeat_pvalue(count, n * fit.n_models, chance)
            found = f"{count:,} of {n:,} tested masks are {what}, so that θ̂ has seen them ({_p(p)})"
            checks.append(_check(name, p, level, found, notices))
    p = row_laws.repeat_pvalue(n_couples, n * (n - 1) / 2, complement)
    found = f"of {n_couples:,} of {n:,} masks the complement stands there too ({_p(p)}): such rows are not independent"
    return [*checks, _check("Complements", p, level, found, "one mask with its complement")]


def _fit_check(masks: PackedMasks, fit: PackedMasks, rows: Rows, level: float) -> Check:
    """Fit and tested rows are independent: no image is in more of both, as it is where masks are near copies."""
    some = fit[:FIT_ROWS]
    known = Rows.of(some, rows.classes)
    p, correlation = row_laws.fit_pvalue(masks.column_sums(), some.column_sums(), rows, known)
    found = (
        f"images that many tested masks hold are in {'many' if correlation > 0 else 'few'} masks of the fit rows too "
        f"(correlation {correlation:.2g}, {_p(p)}): tested masks were made from those of fit rows"
    )
    noticed = -ndtri(level / 2.0) / np.sqrt(max(1, rows.d - 1))
    return _check("Fit and tested rows", p, level, found, f"a correlation of {noticed:.2g} over the images", rows)


def _neighbour_check(masks: PackedMasks, rows: Rows, level: float) -> Check:
    """A mask and the next have as many images in common as two independent ones."""
    p, share = row_laws.neighbour_pvalue(masks, rows)
    found = f"a mask and the next one have {share:.4g} times as many images in common as independent masks ({_p(p)})"
    words = f"neighbouring masks with {row_laws.noticed_overlap(rows, level):.2g} % more or fewer images in common"
    return _check("Neighbouring rows", p, level, found, words, rows)


def _extreme_check(rows: Rows, level: float) -> Check:
    """Masks of no image, or of all, come by chance only where there are few images."""
    extreme = np.flatnonzero((rows.sizes == 0) | (rows.sizes == rows.d))
    p = row_laws.extreme_pvalue(rows, extreme.size)
    kinds = "hold no image" if (rows.sizes[extreme] == 0).all() else "hold no image, or all of them"
    named = f"tested rows {some_of(extreme)}, from 0"
    found = f"{extreme.size:,} of {rows.n:,} masks {kinds} ({named}), as of models that were never trained"
    return _check("Empty and full masks", p, level, found, "one empty or full mask")


def _drift_check(rows: Rows, level: float) -> Check:
    """The size of the masks does not change along the rows."""
    p = row_laws.drift_pvalue(rows)
    what = "the size of the masks" + (", or of a class in them," if rows.n_classes > 1 else "")
    found = f"{what} changes along the rows ({_p(p)})"
    words = f"a steady change by {row_laws.noticed_drift(rows.sizes, level):.2g} images from the first row to the last"
    if rows.sums.min(axis=0).tolist() == rows.sums.max(axis=0).tolist():
        words = "any change: all masks have one size"
    elif rows.n_classes > 1:
        words = "a steady change of the size, or of the number of images of a class"
    return _check("Mask size along the rows", p, level, found, words, rows, "the given order")


def _check(
    name: str, p: float, level: float, found: str, notices: str, rows: Rows | None = None, spoils: Spoils = "every test"
) -> Check:
    """A check with what it found, if anything; one that counts on many rows says so where there are few."""
    if rows is not None and rows.n < mask_laws.FEWEST_ROWS:
        notices = f"nothing: there are fewer than {mask_laws.FEWEST_ROWS} rows"
    return Check(name, float(p), found if p <= level else "", notices, spoils)


def _p(value: float) -> str:
    return f"p = {value:.1e}" if value > 0.0 else "p < 1e-300"


def _packed(name: str, masks: ArrayLike | PackedMasks) -> PackedMasks:
    if isinstance(masks, PackedMasks):
        return masks
    array = as_array(name, masks)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"`{name}` must be a non-empty (n, d) array, but its shape is {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"`{name}` must hold only 0 and 1.")
    return PackedMasks.from_bool(array.astype(np.bool_))


def _classes(labels: ArrayLike, d: int) -> Ints:
    """Classes as given, checked; they need not be 0, 1, 2, …"""
    array = np.asarray(labels)
    if array.shape != (d,) or array.dtype.kind not in "iu":
        raise ValueError(f"`labels` must be {d} whole numbers, one per column of `masks`.")
    return array.astype(np.int64)
