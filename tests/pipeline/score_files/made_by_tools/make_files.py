"""Scores of a tiny network, as the tools themselves leave them: what the tests of pipeline/score_files read.

    pip install --no-deps -r requirements.txt
    python make_files.py

makes again the files beside this one, with 12 training items and 5 targets; nothing else needs these packages.
plain.npz has the scores as the tools gave them in memory, which is what the files must read as.
"""

import shutil
import sys
import tempfile
from pathlib import Path

N_TRAIN, N_TARGETS = 12, 5
HERE = Path(__file__).parent


def small_data():
    """(network, training set, targets): 4 numbers an item, 3 classes."""
    import torch

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
    sets = [torch.utils.data.TensorDataset(torch.randn(n, 4), torch.randint(0, 3, (n,))) for n in (N_TRAIN, N_TARGETS)]
    return network, *sets


def by_traker(network, train, targets, folder):
    """scores/NAME.mmap, (train, targets)."""
    import torch
    from trak import TRAKer
    from trak.projectors import BasicProjector

    n_weights = sum(p.numel() for p in network.parameters())

    def opened():
        projector = BasicProjector(n_weights, 8, 0, "rademacher", torch.device("cpu"))
        return TRAKer(
            network, "image_classification", train_set_size=N_TRAIN, save_dir=str(folder), device="cpu", proj_dim=8,
            projector=projector, use_half_precision=False,
        )  # fmt: skip

    traker = opened()
    traker.load_checkpoint(network.state_dict(), model_id=0)
    for batch in torch.utils.data.DataLoader(train, batch_size=N_TRAIN):
        traker.featurize(batch=batch, num_samples=N_TRAIN)
    traker.finalize_features()
    traker = opened()  # The first has freed its projector.
    traker.start_scoring_checkpoint("digits", network.state_dict(), model_id=0, num_targets=N_TARGETS)
    for batch in torch.utils.data.DataLoader(targets, batch_size=N_TARGETS):
        traker.score(batch=batch, num_samples=N_TARGETS)
    scores = traker.finalize_scores("digits")
    shutil.copyfile(folder / "scores" / "digits.mmap", HERE / "traker.mmap")
    return scores


def by_dattri(network, train, targets):
    """A tensor (train, targets), saved as dattri's scripts do."""
    import torch
    from dattri.algorithm.influence_function import IFAttributorExplicit
    from dattri.task import AttributionTask

    def loss(params, data):
        x, y = data
        output = torch.func.functional_call(network, params, x.reshape(-1, 4))
        return torch.nn.functional.cross_entropy(output, y.reshape(-1))

    task = AttributionTask(loss_func=loss, model=network, checkpoints=network.state_dict())
    attributor = IFAttributorExplicit(task=task, regularization=0.1)
    whole = torch.utils.data.DataLoader(train, batch_size=N_TRAIN)
    attributor.cache(whole)
    scores = attributor.attribute(whole, torch.utils.data.DataLoader(targets, batch_size=N_TARGETS))
    torch.save(scores, HERE / "dattri.pt")
    return scores.detach().numpy()


def by_kronfluence(network, train, targets, folder, per_module):
    """scores_NAME/pairwise_scores.safetensors, (targets, train), of all modules or of each."""
    import torch
    from kronfluence.analyzer import Analyzer, prepare_model
    from kronfluence.arguments import FactorArguments, ScoreArguments
    from kronfluence.task import Task

    class Classification(Task):
        def compute_train_loss(self, batch, model, sample=False):
            return torch.nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")

        def compute_measurement(self, batch, model):
            return self.compute_train_loss(batch, model)

    task = Classification()
    analyzer = Analyzer("tiny", prepare_model(network, task), task, cpu=True, output_dir=str(folder), disable_tqdm=True)
    analyzer.fit_all_factors("ekfac", train, factor_args=FactorArguments("ekfac", use_empirical_fisher=True))
    name = "modules" if per_module else "all"
    analyzer.compute_pairwise_scores(
        name, "ekfac", targets, train, per_device_query_batch_size=N_TARGETS,
        score_args=ScoreArguments(compute_per_module_scores=per_module),
    )  # fmt: skip
    (path,) = folder.glob(f"**/scores_{name}/pairwise_scores.safetensors")
    shutil.copyfile(path, HERE / f"kronfluence-{name}.safetensors")
    return sum(scores.numpy() for scores in analyzer.load_pairwise_scores(name).values())


def by_bergson(scores, kind):
    """A folder with scores.bin and info.json, (train, targets)."""
    import torch
    from bergson.score.score_writer import MemmapSequenceScoreWriter

    folder = HERE / f"bergson-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    writer = MemmapSequenceScoreWriter(folder, N_TRAIN, N_TARGETS, dtype=getattr(torch, kind))
    writer(list(range(N_TRAIN)), torch.tensor(scores))
    writer.flush()
    return torch.tensor(scores).to(getattr(torch, kind)).float().numpy()


def main() -> None:
    """Make all of them."""
    import numpy as np

    network, train, targets = small_data()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = {
            "traker": by_traker(network, train, targets, folder / "trak"),
            "dattri": by_dattri(network, train, targets),
            "kronfluence": by_kronfluence(network, train, targets, folder / "kron", per_module=False).T,
        }
        by_kronfluence(small_data()[0], train, targets, folder / "kron2", per_module=True)
    for kind in ("float32", "bfloat16"):
        plain[f"bergson-{kind}"] = by_bergson(np.array(plain["dattri"]), kind)
    np.savez(HERE / "plain.npz", **plain)


if __name__ == "__main__":
    sys.exit(main())
