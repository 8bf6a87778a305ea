"""Which rows to fit and which to test: how `datamodels_inf/row_blocks.py` was chosen, on simulated truths only.

    python benchmarks/row_blocks.py                    both parts, ten to twenty minutes
    python benchmarks/row_blocks.py --quick            both parts on the smallest d, two minutes
    python benchmarks/row_blocks.py --parts curves     regrets of rules, from learning curves
    python benchmarks/row_blocks.py --parts tests      findings of real tests

Learning curves: σ²(n) is the variance of y − b̂ − xᵀθ̂ on new rows, θ̂ by `fit_lasso` on n rows; it follows from θ̂ − θ
without new rows. Masks are random halves of d images, var y = 1. A rule that fits prefixes e_1 < … < e_K and tests the
n_k rows after each has the information (Σ n_k/σ(e_k))²/Σ n_k: that of the signed-rank Z of the blocks, combined with
weights √n_k. Its regret is the share that it loses against the best choice for that very truth. Each of N/d = 3 … 60
counts the same in an average. Where the first fit chooses the pairs, the largest weight against the smallest and so on,
what counts is the power for these pairs, at |Z| ≥ 3; its regret is a difference of powers.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise, product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from datamodels_inf import PackedMasks, adjust_pvalues, fit_lasso
from datamodels_inf.datamodel import Datamodel
from datamodels_inf.row_blocks import block_ends, first_rows, held_out_split

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Rule = Callable[[int, int], tuple[int, ...]]
"""(N, d) → the ends of the prefixes that are fitted; a single one is a held-out split."""

SEED = 20_241
SIGNAL = (0.1, 0.3, 0.6, 0.9)
"""R² of the true weights, the best that a fit could reach."""
MODELS_PER_IMAGE = (1, 2, 3, 6, 12, 30, 60)
"""N/d; the first two are outside of the average."""
COUNTED = MODELS_PER_IMAGE[2:]
COPIES = {200: 8, 400: 8, 1000: 4, 2000: 2}
"""d: targets of each truth and R²."""
LONGEST = {200: 60, 400: 60, 1000: 60, 2000: 12}
"""d: the longest learning curve, in rows per image."""
LEAST = 20
TARGETS, RANDOM = 20, 50
"""Of real tests, and the random pairs of each target."""
TOP, LEVEL = 10, 3.0
"""Pairs that the first fit chooses, and the |Z| that makes one a finding."""
EFFICIENCY = 3 / np.pi
"""Of the signed-rank test under normal noise."""
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7)
SPACINGS = {"equal": 1.0, "roots equally spaced": 2.0, "cube roots": 3.0, "geometric": np.inf}


def _sparse(rng: np.random.Generator, d: int) -> Floats:
    theta = np.zeros(d)
    theta[rng.choice(d, 20, replace=False)] = rng.standard_normal(20)
    return theta


TRUTHS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "20 weights": _sparse,
    "normal": lambda rng, d: rng.standard_normal(d),
    "Laplace": lambda rng, d: rng.laplace(size=d),
    "t₃": lambda rng, d: rng.standard_t(3, d),
    "a tenth large": lambda rng, d: rng.standard_normal(d) * np.where(rng.random(d) < 0.1, 1.0, 0.1),
}


@dataclass(frozen=True)
class World:
    """Masks, margins and what made them: one column a target."""

    masks: Masks
    margins: NDArray[np.float32]
    theta: Floats
    noise: Floats
    """Variance a target."""

    def fit(self, rows: int, threads: int) -> Datamodel:
        packed = PackedMasks.from_bool(self.masks[:rows])
        return fit_lasso(packed, self.margins[:rows], threads=threads)

    def residual_variance(self, fitted: Datamodel) -> Floats:
        """On new rows: noise + var((θ̂ − θ)ᵀx) + (mean error)², for masks of exactly half of the images."""
        d = len(self.theta)
        error = fitted.weight - self.theta
        spread = 0.25 * d / (d - 1) * ((error - error.mean(axis=0)) ** 2).sum(axis=0)
        return np.asarray(self.noise + spread + (fitted.bias + 0.5 * error.sum(axis=0)) ** 2)


def make_world(d: int, rows: int, kinds: Iterable[tuple[str, float]], seed: int) -> World:
    """Targets with the given truths and R²; weights have mean 0, and var y = 1."""
    rng = np.random.default_rng((seed, d))
    masks = np.zeros((rows, d), np.bool_)
    masks[:, : d // 2] = True
    rng.permuted(masks, axis=1, out=masks)
    weights, noise = [], []
    for truth, signal in kinds:
        theta = TRUTHS[truth](rng, d)
        theta -= theta.mean()
        weights.append(theta * sqrt(signal / (0.25 * d / (d - 1) * float(theta @ theta))))
        noise.append(1.0 - signal)
    theta = np.array(weights).T
    margins = rng.standard_normal((rows, len(noise)), np.float32) * np.sqrt(np.array(noise, np.float32))
    for start in range(0, rows, 5000):
        margins[start : start + 5000] += masks[start : start + 5000].astype(np.float32) @ theta.astype(np.float32)
    return World(masks, margins, theta, np.array(noise))


@dataclass(frozen=True)
class Scenario:
    """N models, d images, and the learning curve of one truth with one R²."""

    n_models: int
    d: int
    truth: str
    signal: float
    log_rows: Floats
    log_variance: Floats
    gaps: Floats
    """(rows, pairs): θ_i − θ_j of the pairs that a fit of so many rows chooses."""

    def information(self, ends: tuple[int, ...]) -> float:
        """(Σ n_k/σ_k)²/Σ n_k, in models with residual variance 1."""
        rows = np.diff((*ends, self.n_models))
        sigma = np.exp(0.5 * np.interp(np.log(ends), self.log_rows, self.log_variance))
        return float((rows / sigma).sum() ** 2 / rows.sum())

    def missed(self, ends: tuple[int, ...]) -> float:
        """√(information if all blocks had the fit of all N rows, over that which they have)."""
        variance = np.exp(np.interp(np.log(self.n_models), self.log_rows, self.log_variance))
        return sqrt((self.n_models - ends[0]) / float(variance) / self.information(ends))

    def top_power(self, ends: tuple[int, ...]) -> float:
        """Mean power for the pairs that the first fit chooses: n/2 rows are informative, with means ± (θ_i − θ_j)/2."""
        power = ndtr(sqrt(EFFICIENCY * self.information(ends) / 8) * self.gaps - LEVEL).mean(axis=1)
        return float(np.interp(np.log(ends[0]), self.log_rows, power))


def measure_curves(sizes: Iterable[int], threads: int) -> list[Scenario]:
    """The learning curves of all truths and R², means of log σ² over the copies; each serves several N."""
    scenarios: list[Scenario] = []
    for d in sizes:
        start, rows = time.perf_counter(), LONGEST[d] * d
        kinds = [kind for kind in product(TRUTHS, SIGNAL) for _ in range(COPIES[d])]
        world = make_world(d, rows, kinds, SEED)
        grid = np.unique(np.geomspace(LEAST, rows, int(np.log(rows / LEAST) / np.log(1.4)) + 1).round().astype(int))
        fits = [world.fit(int(n), threads) for n in grid]
        curve = np.log([world.residual_variance(fitted) for fitted in fits])
        curve = curve.reshape(len(grid), -1, COPIES[d]).mean(axis=2)
        gaps = np.array([chosen_gaps(world.theta, fitted.weight) for fitted in fits])
        gaps = gaps.reshape(len(grid), TOP, -1, COPIES[d]).swapaxes(1, 2).reshape(len(grid), curve.shape[1], -1)
        for ratio in (ratio for ratio in MODELS_PER_IMAGE if ratio <= LONGEST[d]):
            for k, (truth, signal) in enumerate(product(TRUTHS, SIGNAL)):
                scenarios.append(Scenario(ratio * d, d, truth, signal, np.log(grid), curve[:, k], gaps[:, k]))
        print(f"d = {d}: {len(grid)} fits of {len(kinds)} targets, {time.perf_counter() - start:.0f} s", flush=True)
    return scenarios


def chosen_gaps(theta: Floats, fitted: NDArray[np.float32]) -> Floats:
    """(TOP, targets): θ_i − θ_j of the largest fitted weight with the smallest, the second with the second, …"""
    order = np.argsort(fitted, axis=0, kind="stable")
    helpers, hurters = order[::-1][:TOP], order[:TOP]
    return np.asarray(np.take_along_axis(theta, helpers, 0) - np.take_along_axis(theta, hurters, 0))


def spaced(n_models: int, first: int, blocks: int, power: float) -> tuple[int, ...]:
    """Ends whose power-th roots are equally spaced (∞: logarithms); fewer blocks where one would be too small."""
    for count in range(blocks, 1, -1):
        steps = np.arange(count) / count
        if np.isinf(power):
            ends = first * (n_models / first) ** steps
        else:
            low, high = first ** (1 / power), n_models ** (1 / power)
            ends = (low + (high - low) * steps) ** power
        ends = ends.round().astype(int)
        if np.diff((*ends, n_models)).min() >= LEAST:
            return tuple(ends.tolist())
    return (first,)


def share_of(n_models: int, share: float) -> int:
    return min(max(round(share * n_models), LEAST), n_models - LEAST)


def best_held_out(scenario: Scenario) -> float:
    return max(scenario.information((share_of(scenario.n_models, share),)) for share in SHARES)


def best_progressive(scenario: Scenario) -> float:
    """Over first shares, up to 64 blocks, and all spacings."""
    n = scenario.n_models
    settings = product((share for share in SHARES if share <= 0.5), (1, 2, 4, 8, 16, 32, 64), SPACINGS.values())
    return max(scenario.information(spaced(n, share_of(n, share), k, power)) for share, k, power in settings)


def rule(n_models: int, d: int) -> tuple[int, ...]:
    """The progressive rule of the package."""
    return block_ends(n_models, first_rows(n_models, d))


def held_out_rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {"**√(dN/2), at most N/4**": lambda n, d: (held_out_split(n, d),)}
    for most in (0.2, 0.3, 0.5):
        rules[f"√(dN/2), at most {most:g} N"] = lambda n, d, most=most: (share_of(n, min(sqrt(d / n / 2), most)),)
    for share in (0.1, 0.15, 0.2, 0.25, 0.5, 2 / 3):
        rules[f"{share:.2g} N"] = lambda n, d, share=share: (share_of(n, share),)
    return rules


def progressive_rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {"**N/50, 8 blocks, roots equally spaced**": rule}
    settings = [(0.02, 8, name) for name in SPACINGS if name != "roots equally spaced"]
    settings += [(share, 8, "roots equally spaced") for share in (0.005, 0.01, 0.05, 0.1, 0.2)]
    settings += [(0.02, blocks, "roots equally spaced") for blocks in (1, 2, 4, 6, 12, 16)]
    for share, blocks, name in settings:
        rules[f"{share:g} N, {blocks} blocks, {name}"] = lambda n, d, s=share, k=blocks, p=SPACINGS[name]: spaced(
            n, share_of(n, s), k, p
        )
    return rules


def top_rules(progressive: bool) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for share in (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 2 / 3):
        name = f"{share:.2g} N" + (", then blocks by the rule" if progressive else "")
        name = f"**{name}**" if share == 0.5 else name
        rules[name] = lambda n, d, share=share: (
            block_ends(n, share_of(n, share)) if progressive else (share_of(n, share),)
        )
    return rules


def print_regrets(
    scenarios: list[Scenario], rules: dict[str, Rule], regret_of: Callable[[list[tuple[int, ...]]], Floats]
) -> None:
    ratios = np.array([scenario.n_models // scenario.d for scenario in scenarios])
    shown = [ratio for ratio in MODELS_PER_IMAGE if ratio in ratios]
    print("| rows fitted | mean | worst | rows fitted in all, of N | " + " | ".join(f"N/d = {r}" for r in shown) + " |")
    print("|---" * (4 + len(shown)) + "|")
    for name, of in rules.items():
        ends = [of(scenario.n_models, scenario.d) for scenario in scenarios]
        regret = regret_of(ends)
        means = {ratio: regret[ratios == ratio].mean() for ratio in shown}
        cost = np.mean([sum(e) / s.n_models for s, e in zip(scenarios, ends, strict=True)])
        figures = [np.mean([means[r] for r in COUNTED if r in means]), regret[ratios >= COUNTED[0]].max()]
        cells = [f"{figure:.3f}" for figure in figures] + [f"{cost:.2f}"] + [f"{means[r]:.3f}" for r in shown]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def report_curves(sizes: Iterable[int], threads: int) -> None:
    scenarios = measure_curves(sizes, threads)
    held_out = np.array([best_held_out(scenario) for scenario in scenarios])
    progressive = np.array([best_progressive(scenario) for scenario in scenarios])

    def lost(best: Floats) -> Callable[[list[tuple[int, ...]]], Floats]:
        return lambda ends: 1.0 - np.array([s.information(e) for s, e in zip(scenarios, ends, strict=True)]) / best

    def powers(ends: list[tuple[int, ...]]) -> Floats:
        return np.array([s.top_power(e) for s, e in zip(scenarios, ends, strict=True)])

    ways = [*top_rules(False).values(), *top_rules(True).values()]
    most = np.max([powers([of(s.n_models, s.d) for s in scenarios]) for of in ways], axis=0)
    print(f"\n{len(scenarios)} scenarios. Regret, held-out, against the best share of each:\n")
    print_regrets(scenarios, held_out_rules(), lost(held_out))
    print("\nRegret, progressive, against the best first share, number of blocks (up to 64) and spacing of each:\n")
    print_regrets(scenarios, progressive_rules(), lost(progressive))
    print("\nLoss of power for pairs that the first fit chooses, against the best first share and way of each:\n")
    for blocks in (False, True):
        print_regrets(scenarios, top_rules(blocks), lambda ends: most - powers(ends))
    pairs = [(s.information(rule(s.n_models, s.d)), s.information((held_out_split(s.n_models, s.d),)))
             for s in scenarios if s.n_models >= COUNTED[0] * s.d]  # fmt: skip
    gains = np.array([one / other for one, other in pairs])
    print(f"\nInformation of the progressive rule over the held-out rule: mean {gains.mean():.2f}, "
          f"from {gains.min():.2f} to {gains.max():.2f}", flush=True)  # fmt: skip
    print_missed_plans(scenarios)


def print_missed_plans(scenarios: list[Scenario]) -> None:
    """How much larger an effect must be than `planning` says, which has σ²(N), a fit of all rows, in every block."""
    ways: dict[str, Rule] = {"held-out": lambda n, d: (held_out_split(n, d),), "progressive": rule}
    print("\n`plan` has the noise of a fit of all N rows. Its smallest effects times this are the real ones:\n")
    print("| N/d | " + " | ".join(f"{way}, mean | worst" for way in ways) + " |\n" + "|---" * (1 + 2 * len(ways)) + "|")
    for ratio in MODELS_PER_IMAGE:
        some = [s for s in scenarios if s.n_models == ratio * s.d]
        cells = []
        for of in ways.values():
            missed = np.array([s.missed(of(s.n_models, s.d)) for s in some])
            cells += [f"{missed.mean():.2f}", f"{missed.max():.2f}"]
        print(f"| {ratio} | " + " | ".join(cells) + " |", flush=True)


def block_z(world: World, target: int, fitted: Datamodel, rows: slice, pairs: NDArray[np.int64]) -> Floats:
    """The contrast's signed-rank Z of each pair on a block; no ties, since the noise is continuous."""
    masks, theta = world.masks[rows], fitted.weight[:, target].astype(np.float64)
    residual = world.margins[rows, target] - fitted.bias[target] - masks @ theta
    z = np.empty(len(pairs))
    for p, (i, j) in enumerate(pairs):
        sign = masks[:, i].astype(np.int8) - masks[:, j].astype(np.int8)
        informative = sign != 0
        r, s = residual[informative], sign[informative]
        r = np.where(s > 0, r + theta[i], r + theta[j])
        n, ranks = len(r), rankdata(np.abs(r))
        z[p] = (ranks * np.sign(r * s)).sum() / sqrt(n * (n + 1) * (2 * n + 1) / 6)
    return z


def draw_pairs(design: str, theta: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Any two images, or of "top" the largest θ̂ with the smallest, the second with the second, …"""
    if design == "random":
        return np.array([rng.choice(len(theta), 2, replace=False) for _ in range(RANDOM)])
    order = np.argsort(theta, kind="stable")
    return np.stack([order[::-1][:TOP], order[:TOP]], axis=1)


def count_findings(world: World, ends: tuple[int, ...], fits: dict[int, Datamodel], design: str) -> int:
    """Benjamini–Yekutieli 0.2 over all targets; pairs of "top" come from the first prefix."""
    pvalues = []
    edges = list(pairwise((*ends, len(world.masks))))
    weights = np.sqrt([stop - start for start, stop in edges])
    for target in range(world.theta.shape[1]):
        theta = fits[ends[0]].weight[:, target]
        pairs = draw_pairs(design, theta, np.random.default_rng((SEED, target)))
        z = np.array([block_z(world, target, fits[a], slice(a, b), pairs) for a, b in edges])
        pvalues.append(2.0 * ndtr(-np.abs(weights @ z) / sqrt(float(weights @ weights))))
    return int((adjust_pvalues(np.concatenate(pvalues), method="by") <= 0.2).sum())


def report_tests(settings: Iterable[tuple[int, int, str, float]], threads: int) -> None:
    """Findings of the rules, of random pairs and of the top ones."""
    rules: dict[str, Rule] = {
        "held-out 2/3": lambda n, d: (share_of(n, 2 / 3),),
        "1/2": lambda n, d: (share_of(n, 1 / 2),),
        "**rule**": lambda n, d: (held_out_split(n, d),),
        "1/20": lambda n, d: (share_of(n, 1 / 20),),
        "progressive, **N/50**": rule,
        "N/10": lambda n, d: block_ends(n, share_of(n, 0.1)),
        "N/4": lambda n, d: block_ends(n, share_of(n, 0.25)),
        "**N/2**": lambda n, d: block_ends(n, first_rows(n, d, chosen_by_fit=True)),
        "N/50, geometric": lambda n, d: spaced(n, first_rows(n, d), 8, np.inf),
        "N/50, equal": lambda n, d: spaced(n, first_rows(n, d), 8, 1.0),
    }
    print("\n| d | N | truth | R² | pairs | " + " | ".join(rules) + " |\n" + "|---" * (5 + len(rules)) + "|")
    for n, d, truth, signal in settings:
        world = make_world(d, n, [(truth, signal)] * TARGETS, SEED + 1)
        ends = {name: of(n, d) for name, of in rules.items()}
        fits = {rows: world.fit(rows, threads) for rows in sorted({e for some in ends.values() for e in some})}
        for design in ("random", "top"):
            found = [count_findings(world, some, fits, design) for some in ends.values()]
            print(f"| {d} | {n:,} | {truth} | {signal} | {design} | " + " | ".join(map(str, found)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("curves", "tests"), default=("curves", "tests"))
    parser.add_argument("--quick", action="store_true", help="d = 200 only")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    start = time.perf_counter()
    if "curves" in options.parts:
        report_curves((200,) if options.quick else COPIES, options.threads)
    if "tests" in options.parts:
        kinds = (("Laplace", 0.3), ("Laplace", 0.6), ("t₃", 0.9), ("normal", 0.6))
        sizes = ((1_200, 200),) if options.quick else ((1_200, 400), (4_800, 400), (12_000, 400), (6_000, 1000))
        report_tests([(*size, *kind) for size in sizes for kind in kinds], options.threads)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
