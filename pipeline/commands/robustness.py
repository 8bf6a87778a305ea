"""What `datamodels-inf robustness` asks for and prints: the paper's Table 2, and how far the re-runs agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.config_files import literal, load_config
from pipeline.errors import BadInputError
from pipeline.store.cache import Result
from pipeline.summaries import CaseSummary, RobustnessSummary, read_summary
from pipeline.text.numbers import counted, terminal_pvalue
from pipeline.text.rerun_roles import COMPARED, explanation

DIGITS = 2  # of p-values
CHOICES = ("findings", "top", "pair")
QUESTION = ("finding", "pair", "targets", "n_targets", "neighbours", "metric", "embeddings", "method", "split")
FORMS = {"same_sign": "{:.0%}", "effects": "{:.2f}", "pvalues": "{:.2f}"}


def asked_settings(config_name: str, overrides: Sequence[str], asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The overrides of a question: what it names takes the place of the findings, or the pair, of the configuration."""
    given = {name: value for name, value in asked.items() if value}
    finding, targets = given.pop("finding", None), given.pop("targets", None)
    if "pair" in given and finding:
        raise BadInputError("--finding and --pair cannot both be given.")
    if targets and "n_targets" in given:
        raise BadInputError("--targets and --n-targets cannot both be given.")
    if "pair" in given:
        given["pair"] = [int(image) if image.isdecimal() else image for image in given["pair"]]
    elif finding or not load_config(config_name, overrides).robustness.wanted:
        given["findings"] = [finding or 1]
    if "embeddings" in given:
        given.setdefault("metric", "features")
    replaced = [*(CHOICES if "pair" in given or "findings" in given else ()), *(["targets"] * ("n_targets" in given))]
    unset = [f"robustness.{name}=" for name in replaced]
    own = [f"robustness.{name}={literal(value)}" for name, value in given.items()]
    return (*overrides, *unset, *own, *([f"robustness.targets=[{targets}]"] if targets else []))


def robustness_lines(result: Result) -> Iterator[str]:
    """A block for each case."""
    from pyarrow import parquet

    rows = parquet.read_table(result.folder / "reruns.parquet").to_pylist()
    summary = read_summary(result, RobustnessSummary)
    if not summary.cases:
        half = " on the first half of the held-out models" if summary.split else ""
        yield f"There is no finding by {summary.method}{half}, so nothing was tested again."
    for number, case in enumerate(summary.cases):
        yield from _case(case, [row for row in rows if row["case"] == number], summary)
    if summary.cases:
        yield explanation(summary)
        yield f"BY-adjusted p-values of all {counted(summary.n_tests, 'test')} of this family are in reruns.parquet."


def _case(case: CaseSummary, rows: Sequence[dict[str, Any]], summary: RobustnessSummary) -> Iterator[str]:
    title = f"Finding {case.finding}" if case.finding else "Pair"
    yield f"{title}: training image {case.i} against {case.j}, {summary.method}, by {summary.metric}"
    targets = case.targets
    yield _line(_pair("i", "j"), [f"target {t}" for t in targets])
    found = {(row["role"], row["i"], row["j"], row["of"]): row for row in rows if row["role"] != "target"}
    near_i, near_j = (case.near[side].images for side in ("i", "j"))
    shown = [("original", case.i, case.j)]
    shown += [("neighbour", a, b) for a, b in zip(near_i, near_j, strict=True)]
    for role, i, j in shown:
        cells = [found.get((role, i, j, t)) for t in targets]
        yield _line(_pair(i, j), ["" if row is None else terminal_pvalue(row["pvalue"], DIGITS) for row in cells])
    for compared in COMPARED:
        of_role = [[row["pvalue"] for row in rows if row["role"] == compared.name and row["of"] == t] for t in targets]
        yield _line(
            f"median: {compared.in_terminal}",
            [terminal_pvalue(float(np.median(p)), DIGITS) if p else "" for p in of_role],
        )
    yield ""
    yield f"  {'agreement with the original':<50} {'tests':>6} {'same sign':>10} {'effects':>8} {'-log p':>7}"
    for compared in COMPARED:
        a = case.agreement[compared.name]
        sign, effects, pvalues = (_number(getattr(a, key), form) for key, form in FORMS.items())
        yield f"  {compared.in_terminal:<50} {a.n:>6,} {sign:>10} {effects:>8} {pvalues:>7}"
    copies = [image for side in ("i", "j") for image in case.near[side].near_copies]
    if copies:
        yield f"  all but copies of i or j: {', '.join(map(str, copies))}"
    yield ""


def _line(first: str, cells: Sequence[str]) -> str:
    return f"  {first:<50} " + " ".join(f"{cell:>11}" for cell in cells)


def _pair(i: object, j: object) -> str:
    return f"{i:>8} {j:>8}"


def _number(value: float | None, form: str) -> str:
    return "—" if value is None else form.format(value).replace("%", " %")
