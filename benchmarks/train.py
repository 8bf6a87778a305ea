"""Training many small networks: `train` against a plain torch loop and torch.func.vmap, and how the cost grows.

    python benchmarks/train.py                     all parts, some minutes
    python benchmarks/train.py --parts peers       models a second, against both
    python benchmarks/train.py --parts growth      time per image for 500 to 50,000 images

Two networks: that of the embedded digits and that of the study (configs/cifar10-study.toml), on random numbers of the
same shape. All three train the same models: same subsets, same initial weights, same steps; this is checked first.
Ours is what the command runs, processes of one thread each; its start, some seconds whatever the number of models, is
left out and printed. The loop is as people write it, with all cores as torch's threads. vmap trains a block of models
at once on their gathered subsets, with Adam written for the stacked weights, in the best of several sizes of blocks.

Margins agree to rounding but for a few: where a gradient is 0 but for rounding, Adam makes a whole step of it. A loop
in float32 differs from one in float64 as much.

The share of the peak: multiply-adds that the gradient needs (images in the subset, nothing for those that pad it),
against torch.mm of 2048 × 2048 float32 matrices on all cores, in the same turn.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray
from swap_test import timed, yes
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from datamodels_inf.training import NETWORKS, train
from datamodels_inf.training.draws import WEIGHTS, draw_masks, stream
from datamodels_inf.training.recipe import PatchRecipe, Recipe
from datamodels_inf.training.train import train_margins
from pipeline.commands.train import recipe_of
from pipeline.config_files import load_config
from pipeline.places.processes import Processes

SEED = 20_241
N_CLASSES = 10
CHECKED = 8
"""Models that all three must agree on."""
MEDIAN, LARGEST = 1e-4, 0.1
"""What the median and the largest difference of a margin may be, over the standard deviation of margins."""
BLOCKS = (1, 8, 32)
"""Models that vmap trains at once."""
GOAL, GROWTH = 5.0, 1.5
"""Times the better peer, out of reach for a network that is bound by matrix products; the most that an image of 50,000
may cost, over one of 2,000."""
PEERS = ("ours", "loop", "vmap, best block")
SIZES = (500, 2_000, 8_000, 50_000)


@dataclass(frozen=True)
class Case:
    """A network on random images. batch: models that a worker trains at a time, about a second."""

    name: str
    recipe: Recipe
    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    targets: NDArray[np.float32]
    target_labels: NDArray[np.int64]
    batch: int

    @classmethod
    def of(cls, name: str, recipe: Recipe, n_train: int, n_targets: int, features: int, batch: int) -> Case:
        rng = np.random.default_rng(SEED)
        labels, target_labels = (np.arange(n) % N_CLASSES for n in (n_train, n_targets))
        centres = rng.standard_normal((N_CLASSES, features), np.float32) * 0.3
        parts = (
            centres[some] + rng.standard_normal((len(some), features), np.float32) for some in (labels, target_labels)
        )
        images, targets = (part.astype(np.float32) for part in parts)
        return cls(name, recipe, images, labels, targets, target_labels, batch)

    def masks(self, first: int, last: int) -> NDArray[np.bool_]:
        return draw_masks(len(self.images), first, last, seed=SEED)

    @property
    def multiply_adds(self) -> float:
        """Of one model: forward, the gradients of both layers and what comes back to the hidden one; the targets."""
        features, hidden = self.images.shape[1], self.recipe.hidden
        first, second = features * hidden, hidden * N_CLASSES
        n, steps = len(self.images) // 2, self.recipe.steps
        idle = n * (first + second) if self.recipe.last_layer == "zero" else 0  # Nothing comes back in the first step.
        return steps * n * (2 * first + 3 * second) - idle + len(self.targets) * (first + second)


def cases() -> list[Case]:
    digits, study = (load_config(name, ()).train for name in ("digits", "cifar10-study"))
    return [
        Case.of("digits", recipe_of(digits), digits.n_train, digits.n_targets, 64, 256),
        Case.of("study", recipe_of(study), study.n_train, study.n_targets, PatchRecipe().n_components, 32),
    ]


# -------------------------------------------------------------------------------------------------- the three


def ours_margins(case: Case, masks: NDArray[np.bool_], first: int = 0) -> NDArray[np.float32]:
    """In this process; the workers do the same."""
    return train_margins(
        case.images, case.labels, case.targets, case.target_labels, masks,
        first=first, recipe=case.recipe, seed=SEED, n_classes=N_CLASSES,
    )  # fmt: skip


@dataclass(frozen=True)
class Endless:
    """Batches of the models of a case, by their number, as units of work."""

    case: Case

    def size(self, unit: int) -> float:
        return self.case.batch

    def open(self, threads: int) -> Callable[[int, Callable[[float], object]], dict[str, NDArray[np.float32]]]:
        torch.set_num_threads(1)
        masks = self.case.masks(0, self.case.batch)
        return lambda unit, advance: {"margins": ours_margins(self.case, masks, unit * self.case.batch)}


def ours_rate(case: Case, seconds: float, cores: int) -> tuple[float, float]:
    """(models a second once all workers are at work, seconds until then)."""
    begin, warm, ends = time.perf_counter(), 2 * cores, []

    def batches() -> Iterator[int]:
        for key in count():
            if len(ends) > warm and time.perf_counter() > ends[warm] + seconds:
                return
            yield key

    for _ in Processes(cores).done(Endless(case), batches(), lambda step: None):
        ends.append(time.perf_counter())
    return (len(ends) - 1 - warm) * case.batch / (ends[-1] - ends[warm]), ends[0] - begin


def initial(case: Case, models: range) -> list[Tensor]:
    """Weights and biases in turn, (models, out, in) and (models, out), that ours start from."""
    network = NETWORKS[case.recipe.architecture].build(case.images.shape[1:], case.recipe.hidden, N_CLASSES)
    theta = train._Parameters(network.shapes, len(models))
    for slot, model in enumerate(models):
        theta.draw(slot, stream(SEED, model, WEIGHTS), case.recipe.last_layer)
    return [part.clone() if k % 2 == 0 else part.squeeze(2).clone() for k, part in enumerate(theta.weights)]


def module_of(case: Case) -> nn.Sequential:
    features, hidden = case.images.shape[1], case.recipe.hidden
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, N_CLASSES))


def margins_of(logits: Tensor, labels: Tensor) -> Tensor:
    """The last axis of logits holds the classes."""
    index = labels.expand(logits.shape[:-1]).unsqueeze(-1)
    return logits.gather(-1, index).squeeze(-1) - logits.scatter(-1, index, -math.inf).amax(-1)


def loop_margins(case: Case, masks: NDArray[np.bool_]) -> NDArray[np.float32]:
    """One model after the other, as people write it."""
    recipe = case.recipe
    x, y = torch.from_numpy(case.images), torch.from_numpy(case.labels)
    shown, truth = torch.from_numpy(case.targets), torch.from_numpy(case.target_labels)
    found = []
    for model, mask in enumerate(masks):
        module = module_of(case)
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), initial(case, range(model, model + 1)), strict=True):
                parameter.copy_(value[0])
        kind = torch.optim.AdamW if recipe.decay == "weights" else torch.optim.Adam
        optimiser = kind(module.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / recipe.steps)
        kept = torch.from_numpy(mask)
        some, labels = x[kept], y[kept]
        for _ in range(recipe.steps):
            optimiser.zero_grad()
            nn.functional.cross_entropy(module(some), labels).backward()
            optimiser.step()
            schedule.step()
        with torch.no_grad():
            found.append(margins_of(module(shown), truth).numpy())
    return np.array(found)


def vmap_margins(case: Case, masks: NDArray[np.bool_], block: int) -> NDArray[np.float32]:
    """A block of models after the other, each block at once."""
    module = module_of(case).to("meta")
    names = [name for name, _ in module.named_parameters()]
    x, y = torch.from_numpy(case.images), torch.from_numpy(case.labels)
    shown, truth = torch.from_numpy(case.targets), torch.from_numpy(case.target_labels)

    def logits(weights: dict[str, Tensor], images: Tensor) -> Tensor:
        return functional_call(module, weights, (images,))

    def loss(weights: dict[str, Tensor], images: Tensor, labels: Tensor) -> Tensor:
        return nn.functional.cross_entropy(logits(weights, images), labels)

    slopes, answers = vmap(grad(loss)), vmap(logits, in_dims=(0, None))
    found = []
    for start in range(0, len(masks), block):
        models = range(start, min(start + block, len(masks)))
        weights = dict(zip(names, initial(case, models), strict=True))
        kept = torch.from_numpy(np.array([np.flatnonzero(mask) for mask in masks[models.start : models.stop]]))
        some, labels = x[kept], y[kept]
        with torch.no_grad():
            stacked_adam(case.recipe, weights, lambda w, some=some, labels=labels: slopes(w, some, labels))
            found.append(margins_of(answers(weights, shown), truth).numpy())
    return np.concatenate(found)


def stacked_adam(recipe: Recipe, weights: dict[str, Tensor], slopes: Callable[..., dict[str, Tensor]]) -> None:
    """Adam or AdamW on stacked weights, in place; the rate falls linearly."""
    mean = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    square = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for step in range(recipe.steps):
        rate = recipe.learning_rate * (1 - step / recipe.steps)
        for name, slope in slopes(weights).items():
            weight = weights[name]
            if recipe.decay == "weights":
                weight.mul_(1 - rate * recipe.weight_decay)
            else:
                slope = slope.add(weight, alpha=recipe.weight_decay)
            mean[name].lerp_(slope, 0.1)
            square[name].mul_(0.999).addcmul_(slope, slope, value=0.001)
            root = (square[name] / (1 - 0.999 ** (step + 1))).sqrt_().add_(1e-8)
            weight.addcdiv_(mean[name], root, value=-rate / (1 - 0.9 ** (step + 1)))


# -------------------------------------------------------------------------------------------------- the parts


def check_the_same(case: Case) -> tuple[float, float]:
    """Median and largest difference of a margin between ours and the other two, over the standard deviation."""
    masks = case.masks(0, CHECKED)
    expected = ours_margins(case, masks)
    others = [loop_margins(case, masks), *(vmap_margins(case, masks, block) for block in (1, CHECKED))]
    apart = [np.abs(found - expected) / expected.std() for found in others]
    median, largest = (max(float(of(each)) for each in apart) for of in (np.median, np.max))
    if median > MEDIAN or largest > LARGEST:
        raise SystemExit(
            f"{case.name}: margins differ by {median:.2g}, at most {largest:.2g}; times would say nothing."
        )
    return median, largest


def rate_of(work: Callable[[NDArray[np.bool_]], object], case: Case, seconds: float, least: int) -> float:
    """Models a second, of as many as take about so many seconds but at least `least`, after a warm-up."""
    masks = case.masks(0, 1024)
    work(masks[:least])
    once = timed(lambda: work(masks[:least]))
    more = least * min(len(masks) // least, int(seconds / once))
    return least / once if more <= least else more / timed(lambda: work(masks[:more]))


def peak_rate(size: int = 2048) -> float:
    """Multiply-adds a second of torch.mm on all cores; the best of five."""
    a, b = torch.rand(2, size, size)
    torch.mm(a, b)
    return size**3 / min(timed(lambda: torch.mm(a, b)) for _ in range(5))


def measure_peers(repeats: int, seconds: float, cores: int) -> None:
    """Turn by turn, so that a busy minute harms all alike; medians, ratios within a turn."""
    torch.set_num_threads(cores)
    for case in cases():
        median, largest = check_the_same(case)
        n_train, features = case.images.shape
        print(
            f"\n**{case.name}**: {n_train} images × {features} numbers, {case.recipe.hidden} hidden units, "
            f"{case.recipe.steps} steps, {case.multiply_adds / 1e6:.0f} million multiply-adds a model; margins of the "
            f"three differ by {median:.0e} of their sd (median; {largest:.0e} at most).",
            flush=True,
        )
        print_turns(case, [peers_turn(case, seconds, cores) for _ in range(repeats)])


def peers_turn(case: Case, seconds: float, cores: int) -> dict[str, float]:
    """Models a second of each, the peak, and how long ours took to start."""
    found = {"peak": peak_rate()}
    found["ours"], found["start"] = ours_rate(case, seconds, cores)
    found["loop"] = rate_of(lambda masks: loop_margins(case, masks), case, seconds, 2)
    for block in BLOCKS:
        rate = rate_of(lambda masks, block=block: vmap_margins(case, masks, block), case, seconds / 2, block)
        found["vmap, best block"] = max(rate, found.get("vmap, best block", 0.0))
    return found


def print_turns(case: Case, turns: list[dict[str, float]]) -> None:
    print("\n| models/s | median | ours over this (lowest to highest) |\n|---|---|---|")
    for name in PEERS:
        rates, ratios = [turn[name] for turn in turns], [turn["ours"] / turn[name] for turn in turns]
        print(f"| {name} | {np.median(rates):.1f} | {spread(ratios)} |")
    against = [turn["ours"] / turn["loop"] for turn in turns]
    shares = [turn["ours"] * case.multiply_adds / turn["peak"] for turn in turns]
    most = np.median(against) / np.median(shares)
    met = yes(float(np.median(against)) >= GOAL)
    peak, start = (np.median([turn[name] for turn in turns]) for name in ("peak", "start"))
    print(f"\n- {spread(against)} times the loop; the goal is {GOAL:.0f}: {met}.")
    print(f"- {spread(shares)} of the peak, {peak:.2e} multiply-adds/s; with all of it, {most:.1f} times the loop.")
    print(f"- The first result comes after {start:.1f} s.", flush=True)


def spread(ratios: list[float]) -> str:
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def measure_growth(repeats: int) -> None:
    """The study's network on more and more images, one thread; the best of the repeats."""
    torch.set_num_threads(1)
    study = cases()[1]
    features = study.images.shape[1]
    each = {}
    print("\n| images | models/s, one thread | images × models/s | µs per image of a model |\n|---|---|---|---|")
    for n_train in SIZES:
        case = Case.of("growth", study.recipe, n_train, len(study.targets), features, 1)
        masks = case.masks(0, max(2, 32_000 // n_train))
        ours_margins(case, masks[:1])
        seconds = min(timed(lambda c=case, m=masks: ours_margins(c, m)) for _ in range(repeats)) / len(masks)
        each[n_train] = seconds / n_train
        print(f"| {n_train:,} | {1 / seconds:.2f} | {n_train / seconds:,.0f} | {1e6 * each[n_train]:.2f} |", flush=True)
    ratio = each[50_000] / each[2_000]
    print(f"\n- An image of 50,000 costs {ratio:.2f} times one of 2,000 (at most {GROWTH}: {yes(ratio <= GROWTH)}).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("peers", "growth"), default=("peers", "growth"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement, about")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"{options.cores} cores, torch {torch.__version__}, {time.strftime('%Y-%m-%d')}")
    if "peers" in options.parts:
        measure_peers(options.repeats, options.seconds, options.cores)
    if "growth" in options.parts:
        measure_growth(options.repeats)


if __name__ == "__main__":  # Workers are spawned and import this file.
    main()
