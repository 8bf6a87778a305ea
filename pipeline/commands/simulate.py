"""`datamodels-inf simulate`: the paper's synthetic experiments as figures and tables."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from datamodels_inf.internal.cores import available_cores
from datamodels_inf.simulate import EXPERIMENTS, PAIRS, PRINTED, SETTINGS, VARIANTS, Experiment, Rates, run
from pipeline.commands.simulation_figures import draw_gain, draw_heatmaps
from pipeline.progress import progress_bar, working
from pipeline.store.files import make_folder, whole_file
from pipeline.text.numbers import counted


def run_simulation(
    experiment: str, *, reps: int, seed: int, out: Path, threads: int | None, quiet: bool
) -> Iterator[str]:
    """Run one experiment or all; yield the lines to print: tables, then what was written where."""
    make_folder(out, "--out")
    wanted = [e for e in EXPERIMENTS if experiment in (e, "all")]
    total = reps * sum(len(SETTINGS[e]) for e in wanted)
    written: list[Path] = []
    rates: list[Rates] = []
    with progress_bar(total, "repetition", "simulate", quiet) as advance:
        for name in wanted:
            found = run(name, reps=reps, seed=seed, threads=threads or available_cores(), progress=advance)
            rates += found
    with working("simulate: drawing", quiet):
        for name in wanted:
            written += _draw(name, [one for one in rates if one.setting.experiment == name], out)
    written += [_write_rates(rates, out / "rates.csv"), _write_summary(rates, seed, out / "summary.md")]
    if not quiet:
        yield from summary_lines(rates)
        yield ""
    yield f"Wrote {counted(len(written), 'file')} to {out}:"
    yield from (f"  {path.name}" for path in written)


def _draw(experiment: Experiment, rates: Sequence[Rates], out: Path) -> list[Path]:
    written = []
    for method in VARIANTS:
        path = out / f"{experiment}_{method}.png"
        with whole_file(path) as temporary:
            draw_heatmaps([r for r in rates if r.method == method], temporary)
        written.append(path)
    if experiment == "power":
        with whole_file(out / "power_gain.png") as temporary:
            draw_gain(rates, temporary)
        written.append(out / "power_gain.png")
    return written


RATE_COLUMNS = ("experiment", "n", "sigma", "alpha", "method", "i", "j", "reps", "rate", "standard_error", "theory")


def _write_rates(rates: Sequence[Rates], path: Path) -> Path:
    """All rates; i and j count from 1, as in the paper."""
    with whole_file(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(RATE_COLUMNS)
        for r in rates:
            s = r.setting
            for (i, j), rate, error, exact in zip(PAIRS + 1, r.rate, r.standard_error, r.theory, strict=True):
                head = (s.experiment, s.n, _cell(s.sigma, "g"), r.alpha, r.method, i, j, r.reps)
                writer.writerow([*head, f"{rate:.6g}", f"{error:.3g}", _cell(exact, ".6g")])
    return path


def _cell(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def _write_summary(rates: Sequence[Rates], seed: int, path: Path) -> Path:
    reps = rates[0].reps
    head = [f"# The paper's synthetic experiments, {reps} repetitions, seed {seed}", ""]
    methods = ["", "Methods:", "", *(f"- `{name}`: {words}" for name, words in VARIANTS.items())]
    note = ["", "Pairs count from 1, as in the paper. All 45 pairs with standard errors: `rates.csv`."]
    with whole_file(path) as temporary:
        temporary.write_text("\n".join([*head, *summary_lines(rates), *methods, *note, ""]), encoding="utf-8")
    return path


def summary_lines(rates: Sequence[Rates]) -> list[str]:
    """Markdown tables: one section per experiment that was run."""
    lines: list[str] = []
    for experiment, table in (("size", _size_table), ("power", _power_table), ("mixture", _mixture_table)):
        chosen = [r for r in rates if r.setting.experiment == experiment]
        if chosen:
            lines += ([""] if lines else []) + table(chosen)
    return lines


def _size_table(rates: Sequence[Rates]) -> list[str]:
    rows = []
    for r in rates:
        kept = "yes" if r.method == "swap" and (r.rate < r.alpha).all() else ""
        exact = _cell(float(r.theory.mean()), ".4f")
        rows.append((r.method, f"{r.alpha:g}", f"{r.rate.mean():.4f}", exact, f"{r.rate.max():.3f}", kept))
    header = ("method", "level", "mean rate", "exact theory", "largest of 45", "all below the level, as in the paper")
    return ["Size: every pair is null, so no rate may exceed its level beyond chance.", "", *_table(header, rows)]


def _power_table(rates: Sequence[Rates]) -> list[str]:
    at = {(r.method, r.setting.sigma): r for r in rates}
    rows = []
    for (sigma, (i, j)), printed in PRINTED.items():
        swap = at["swap", sigma]
        k = swap.of(i, j)
        others = [f"{at[method, sigma].rate[k]:.3f}" for method in VARIANTS if method != "swap"]
        ours = f"{swap.rate[k]:.3f} ± {swap.standard_error[k]:.3f}"
        rows.append((f"({i + 1},{j + 1})", f"{sigma:g}", f"{printed:.3f}", ours, f"{swap.theory[k]:.3f}", *others))
    header = ("pair", "σ", "paper", "swap (ours)", "swap (exact theory)", *(m for m in VARIANTS if m != "swap"))
    worst = max(
        float(at["swap", sigma].rate[[swap.of(k, k + 1) for k in range(0, 10, 2)]].max()) for sigma in (1, 2, 3)
    )
    return [
        "Power at level 0.1, the paper's printed numbers beside ours.",
        "",
        *_table(header, rows),
        "",
        f"The five equal pairs: the paper's test rejects at most a share of {worst:.3f}; the paper says below 0.1.",
    ]


def _mixture_table(rates: Sequence[Rates]) -> list[str]:
    """Mean over all 45 pairs, and over the pairs of smallest and largest contrast μ_j − μ_i."""
    contrast = PAIRS[:, 1] - PAIRS[:, 0]
    rows = []
    for r in rates:
        cells = [f"{r.rate[contrast == c].mean():.3f}" for c in (1, 5, 9)]
        exact = _cell(float(r.theory.mean()), ".4f")
        rows.append((f"{r.setting.n}", r.method, f"{r.rate.mean():.4f}", exact, *cells))
    header = ("n", "method", "mean rate", "exact theory", "contrast 1", "contrast 5", "contrast 9")
    return [
        "Mixture of Gaussians at level 0.1: the higher the contrast, the more rejections.",
        "",
        *_table(header, rows),
    ]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table with aligned columns."""
    widths = [max(len(row[c]) for row in (header, *rows)) for c in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return [line(header), "|" + "|".join("-" * (w + 2) for w in widths) + "|", *map(line, rows)]
