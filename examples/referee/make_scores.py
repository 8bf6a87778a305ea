"""TRAK, influence functions and EK-FAC on the embedded digits, by the libraries that people use.

    python examples/referee/make_scores.py --out scores

trains a few checkpoints with the recipe of the embedded set, on masks that none of its 12,000 models has, and leaves

    scores/trak/scores/digits.mmap      TRAK, by traker
    scores/influence.pt                 influence functions with the exact Hessian, by dattri
    scores/ekfac/.../*.safetensors      EK-FAC influence functions, by kronfluence (copied to scores/ekfac.safetensors)

each as its library writes it. None of the methods is tuned. In every file a positive score says that a training image
raises the margin of the target.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import pipeline
from datamodels_inf.training.draws import draw_masks
from datamodels_inf.training.recipe import Recipe
from pipeline.images.image_set import ImageSet, as_float

SEED = 2_026
"""Of masks and initial weights. The embedded models have the seed 0, so that no checkpoint is one of them."""
PROJECTED = 100
"""Dimensions of TRAK's random projection: a quarter of the training images. With 400 or more its kernel is singular."""


@dataclass(frozen=True)
class Digits:
    """The embedded set as tensors: training images and targets, with labels, and how its models were trained."""

    train: TensorDataset
    targets: TensorDataset
    recipe: Recipe

    @classmethod
    def load(cls) -> Digits:
        """From the package."""
        folder = Path(pipeline.__file__).parent / "embedded" / "digits"
        images, job = ImageSet.load(folder / "images.npz"), json.loads((folder / "manifest.json").read_text())["job"]
        parts = ((images.train, images.labels.train_labels), (images.targets, images.labels.target_labels))
        sets = [
            TensorDataset(torch.tensor(as_float(pixels)).flatten(1), torch.tensor(labels, dtype=torch.int64))
            for pixels, labels in parts
        ]
        return cls(*sets, Recipe(**job["recipe"]))


def network(digits: Digits) -> nn.Sequential:
    """The embedded models' MLP in torch's own layers."""
    features, hidden = digits.train.tensors[0].shape[1], digits.recipe.hidden
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """Logit of the true class less the largest other one: what the embedded models' outcomes are."""
    own = labels[:, None] == torch.arange(logits.shape[-1])
    return (logits * own).sum(dim=-1) - torch.where(own, -torch.inf, logits).amax(dim=-1)


def train(digits: Digits, mask: np.ndarray, seed: int) -> nn.Sequential:
    """One model on the images of `mask`: Adam on the whole subset, the rate falling to 0, decay in the loss."""
    torch.manual_seed(seed)
    model, recipe = network(digits), digits.recipe
    for layer in (model[0], model[2]):
        nn.init.normal_(layer.weight, std=(2.0 / layer.in_features) ** 0.5)
        nn.init.zeros_(layer.bias)
    x, y = (part[torch.from_numpy(mask)] for part in digits.train.tensors)
    adam = torch.optim.Adam(model.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay)
    for step in range(recipe.steps):
        for group in adam.param_groups:
            group["lr"] = recipe.learning_rate * (1.0 - step / recipe.steps)
        adam.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        adam.step()
    return model.eval()


def checkpoints(digits: Digits, count: int) -> list[nn.Sequential]:
    """Models on fresh random halves of the training images."""
    masks = draw_masks(len(digits.train), 0, count, seed=SEED)
    return [train(digits, mask, SEED + k) for k, mask in enumerate(masks)]


def trak_scores(digits: Digits, models: Sequence[nn.Module], folder: Path) -> Path:
    """TRAK of the margin (Park et al., 2023)."""
    from trak import TRAKer
    from trak.projectors import BasicProjector

    shutil.rmtree(folder, ignore_errors=True)
    n_weights, n_train = sum(p.numel() for p in models[0].parameters()), len(digits.train)

    def traker() -> TRAKer:
        projector = BasicProjector(n_weights, PROJECTED, 0, "rademacher", torch.device("cpu"))
        return TRAKer(
            models[0], "image_classification", train_set_size=n_train, save_dir=str(folder), device="cpu",
            proj_dim=PROJECTED, projector=projector, use_half_precision=False,
        )  # fmt: skip

    one = traker()
    for k, model in enumerate(models):
        one.load_checkpoint(model.state_dict(), model_id=k)
        for batch in DataLoader(digits.train, batch_size=n_train):
            one.featurize(batch=batch, num_samples=len(batch[0]))
    one.finalize_features()
    one = traker()  # The first has freed its projector.
    for k, model in enumerate(models):
        one.start_scoring_checkpoint("digits", model.state_dict(), model_id=k, num_targets=len(digits.targets))
        for batch in DataLoader(digits.targets, batch_size=len(digits.targets)):
            one.score(batch=batch, num_samples=len(batch[0]))
    one.finalize_scores("digits")
    return folder / "scores" / "digits.mmap"


def influence_scores(digits: Digits, models: Sequence[nn.Module], path: Path) -> Path:
    """∇margin(target)ᵀ (H + λI)⁻¹ ∇loss(image) with λ the weight decay, negated: mean over checkpoints."""
    from dattri.algorithm.influence_function import IFAttributorExplicit
    from dattri.task import AttributionTask

    model = models[0]

    def logits(params: dict[str, Tensor], data: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        x, y = data
        return torch.func.functional_call(model, params, x.reshape(-1, x.shape[-1])), y.reshape(-1)

    def loss(params: dict[str, Tensor], data: tuple[Tensor, Tensor]) -> Tensor:
        return nn.functional.cross_entropy(*logits(params, data))

    def minus_margin(params: dict[str, Tensor], data: tuple[Tensor, Tensor]) -> Tensor:
        return -margin(*logits(params, data)).sum()

    task = AttributionTask(
        loss_func=loss, model=model, checkpoints=[one.state_dict() for one in models], target_func=minus_margin
    )
    attributor = IFAttributorExplicit(task=task, regularization=digits.recipe.weight_decay)
    images = DataLoader(digits.train, batch_size=len(digits.train))
    attributor.cache(images)
    torch.save(attributor.attribute(images, DataLoader(digits.targets, batch_size=len(digits.targets))), path)
    return path


def ekfac_scores(digits: Digits, model: nn.Module, folder: Path) -> Path:
    """The same with the Hessian's EK-FAC approximation (Grosse et al., 2023), of one checkpoint."""
    from kronfluence.analyzer import Analyzer, prepare_model
    from kronfluence.arguments import FactorArguments
    from kronfluence.task import Task

    class Margins(Task):
        def compute_train_loss(self, batch, model, sample=False):  # type: ignore[no-untyped-def]
            output = model(batch[0])
            labels = torch.distributions.Categorical(logits=output.detach()).sample() if sample else batch[1]
            return nn.functional.cross_entropy(output, labels, reduction="sum")

        def compute_measurement(self, batch, model):  # type: ignore[no-untyped-def]
            return -margin(model(batch[0]), batch[1]).sum()

    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(SEED)  # The factors are those of labels that the model draws.
    task = Margins()
    analyzer = Analyzer("digits", prepare_model(model, task), task, cpu=True, output_dir=str(folder), disable_tqdm=True)
    analyzer.fit_all_factors("ekfac", digits.train, factor_args=FactorArguments("ekfac"))
    analyzer.compute_pairwise_scores(
        "digits", "ekfac", digits.targets, digits.train, per_device_query_batch_size=len(digits.targets)
    )
    (path,) = folder.glob("**/scores_digits/pairwise_scores.safetensors")
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Make all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("scores"), help="folder to fill")
    parser.add_argument("--checkpoints", type=int, default=10, help="models that TRAK averages over")
    parser.add_argument("--exact", type=int, default=3, help="models that exact influence functions average over")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    digits = Digits.load()
    models = checkpoints(digits, max(options.checkpoints, options.exact))
    trak = trak_scores(digits, models[: options.checkpoints], options.out / "trak")
    exact = influence_scores(digits, models[: options.exact], options.out / "influence.pt")
    ekfac = options.out / "ekfac.safetensors"
    shutil.copyfile(ekfac_scores(digits, models[0], options.out / "ekfac"), ekfac)
    sys.stdout.write("".join(f"{path}\n" for path in (trak, exact, ekfac)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
