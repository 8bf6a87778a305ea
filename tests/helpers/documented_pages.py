"""Tables of what the pages need: what is in their folder, what is made smaller, and what is shown but not run."""

import os
import shutil
import socket
from functools import cache

import numpy as np
from documented import Command
from documented_run import Changed, Parsed, Run, Shown
from fake_slurm import FakeSlurm
from other_tools import FILES
from places import ROOT

EMBEDDED = ROOT / "pipeline" / "embedded" / "digits"
CLASS_3 = (3, 13, 45, 60, 84)
"""Some targets of the embedded digits."""


@cache
def digits():
    """(masks, margins) of all embedded models."""
    masks = np.unpackbits(np.load(EMBEDDED / "masks.npy"), axis=1, count=400).astype(bool)
    return masks, np.load(EMBEDDED / "margins.npy").astype(np.float64)


@cache
def attributed():
    """Scores as a rough attribution method would leave them: mean margins with and without an image, of few models."""
    masks, margins = (array[:2000] for array in digits())
    centred = masks - masks.mean(axis=0)
    return (centred.T @ (margins - margins.mean(axis=0)) / 500).astype(np.float32)


def score_files(run):
    """In each of the formats that pages name."""
    import torch
    from safetensors.numpy import save_file

    scores = attributed()
    for name in ("trak.npy", "trak_scores.npy"):
        np.save(run.folder / name, scores)
    (run.folder / "scores" / "trak" / "scores").mkdir(parents=True)
    np.save(run.folder / "scores" / "trak" / "scores" / "digits.npy", scores)
    (run.folder / "scores" / "trak" / "scores" / "digits.npy").rename(
        run.folder / "scores" / "trak" / "scores" / "digits.mmap"
    )
    torch.save(torch.tensor(scores), run.folder / "scores" / "influence.pt")
    for name in ("kron.safetensors", "scores/ekfac.safetensors"):
        save_file({"all_modules": np.ascontiguousarray(scores.T)}, run.folder / name)


def arrays(run):
    """Names of Python blocks: the held-out models of the embedded digits, on targets of class 3 or on target 84, and a
    datamodel of the others."""
    from datamodels_inf import fit_lasso

    masks, margins = digits()
    fitted = fit_lasso(masks[:8000], margins[:8000, CLASS_3], n_lambdas=10)
    run.names.update(
        masks=masks[8000:], outcomes=margins[8000:, CLASS_3], margins=margins[8000:, 84], theta=fitted.weight[:, -1],
        bias=fitted.bias[-1], i=5, j=11,
    )  # fmt: skip


def several_targets(run):
    """The same with a datamodel of all targets, and scores of two methods."""
    from datamodels_inf import fit_lasso

    arrays(run)
    masks, margins = digits()
    fitted = fit_lasso(masks[:8000], margins[:8000, CLASS_3], n_lambdas=10)
    run.names.update(
        theta=fitted.weight, bias=fitted.bias, margins=run.names["outcomes"], ends=[1000, 4000],
        trak=attributed()[:, CLASS_3], mine=np.abs(attributed()[:, CLASS_3]),
    )  # fmt: skip


def own_models(run):
    """A folder of one's own."""
    masks, margins = digits()
    (run.folder / "my-models").mkdir()
    np.save(run.folder / "my-models" / "masks.npy", masks[:900, :60])
    np.save(run.folder / "my-models" / "outcomes.npy", margins[:900, :4])


def own_function(run):
    """A function that trains: ridge regression of the classes of digits, on 5,000 rows."""
    (run.folder / "mypackage").mkdir()
    (run.folder / "mypackage" / "train.py").write_text(OWN_FUNCTION, encoding="utf-8")


OWN_FUNCTION = """
import numpy as np

rng = np.random.default_rng(0)
X, X_target = rng.standard_normal((5000, 8)), rng.standard_normal((200, 8))
y = X @ np.arange(8.0)


def train_one(mask, seed):
    return X_target @ np.linalg.lstsq(X[mask], y[mask], rcond=None)[0]
"""


MY_CONFIG = """
[source]
kind = "embedded"

[fit]
targets = [3, 13, 84]
n_lambdas = 5

[test]
target_class = "3"
repeats = 1
"""


def own_config(run):
    """my.toml and my-study.toml: a study of one's own."""
    (run.folder / "my.toml").write_text(MY_CONFIG, encoding="utf-8")
    study = {"dataset": '"digits"', "n_train": 40, "n_targets": 20, "n_models": 300, "hidden": 4, "steps": 5}
    lines = (f"{name} = {value}\n" for name, value in study.items())
    (run.folder / "my-study.toml").write_text(f'[train]\n{"".join(lines)}\n[test]\ntarget_class = "3"\n')


def pairs(run):
    """A list of pairs."""
    (run.folder / "pairs.csv").write_text("i,j,target\n5,11,84\n12,3:3,84\n")


def other_tools(run):
    """What other tools leave, and outcomes of their models."""
    shutil.copytree(FILES / "dattri" / "retrain", run.folder / "lds")
    shutil.copy(FILES / "quanda" / "subset_ids.yaml", run.folder)
    shutil.copytree(FILES / "bergson" / "overlapping", run.folder / "bergson-run")
    np.save(run.folder / "losses.npy", np.random.default_rng(0).random((6, 2)))


def cifar10(run):
    """A copy of CIFAR-10."""
    (run.folder / "cifar-10-batches-py").symlink_to(run.variables["CIFAR10"])


def slurm(run):
    """`sbatch`, of a job array the last job, the only one with work where models are few, and a port."""
    fake = FakeSlurm(run.folder / "slurm")
    run.cleanups.append(fake.close)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{fake.bin}:{run.desk.bin}:{os.environ['PATH']}"
    run.variables |= {**fake.environment, "PATH": path, "SLURM_ARRAY_TASK_ID": "100", "PORT": str(port)}


def command(text):
    """A command that has been run before."""

    def prepare(run):
        run.command(Command(0, text))

    return prepare


PREPARATIONS = {
    "README.md": (score_files, arrays, own_models, own_function, own_config, pairs),
    "docs/cluster.md": (own_config, slurm),
    "docs/designs.md": (score_files,),
    "docs/lasso.md": (several_targets,),
    "docs/own-data.md": (other_tools,),
    "docs/own-training.md": (own_function,),
    "docs/referee.md": (score_files, several_targets, own_config),
    "docs/report.md": (command("datamodels-inf run --config digits-methods"),),
    "docs/robustness.md": (cifar10,),
    "examples/referee/README.md": (score_files,),
}
"""page → functions of its run, called before its first block. A page that is not here starts in an empty folder."""

FIRST = {"docs/own-data.md": "import json"}
"""page → the beginning of a block that makes what the blocks above it show."""

SERVED = "--set source.fit_rows=1000 --set source.held_out_rows=500 --set source.images=@CIFAR10@ --set test.repeats=1"
FREE = "--set source.masks_url=@HTTP@/mask.npy --set source.margins_url=@HTTP@/val_margins.npy"
STUDY = (
    "--set source.fit_rows=6000 --set source.held_out_rows=3000 --set fit.targets=[12,16,24,31] --set fit.n_lambdas=4 "
    "--set test.repeats=1 --set atlas.targets=needed --set report.max_panels=2 --set report.name=cifar10-study"
)
EXCEPTIONS = (
    Changed("--fresh 10000", "--fresh 64", "minutes of training"),
    Changed("--set verify.fresh=10000", "--set verify.fresh=64", "minutes of training"),
    Changed(
        "--set source.fit_rows=2500 --set source.held_out_rows=1500",
        "--set source.fit_rows=90 --set source.held_out_rows=60",
        "fewer models",
        "docs/robustness.md",
    ),
    Changed("--models 10000", "--models 400", "minutes of training"),
    Changed("--models (5000|4000)", "--models 150", "minutes of training"),
    Changed(
        "datamodels-inf run (--config cifar10.* --dry-run)",
        r"env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_ENDPOINT_URL_S3 datamodels-inf run \1",
        "it needs no account, and then says what it would fetch of the true bucket",
        compared=True,
    ),
    Changed("--config cifar10(?! .*--dry-run)", f"--config cifar10 {SERVED} --set report.name=cifar10", "gigabytes"),
    Changed(
        "--config cifar10-all(?! .*--dry-run)", f"--config cifar10-all {SERVED} --set report.name=all", "gigabytes"
    ),
    Changed("--config cifar10-free", f"--config cifar10-free {SERVED} {FREE} --set report.name=free", "gigabytes"),
    Changed("--config cifar10-study", f"--config cifar10-study {STUDY}", "a minute of LASSO and of tests"),
    Changed(r"(verify .*--top) \d+", r"\1 2 --models 8", "1,000 models a pair"),
    Changed("(verify --pair .*)", r"\1 --models 8", "1,000 models a pair"),
    Changed(r"(--set verify.top=\d)", r"\1 --set verify.models=8", "1,000 models a pair"),
    Changed(
        "--config digits --set fit.targets=all --unseen",
        "--config digits --set fit.targets=[3,84] --unseen",
        "half a minute",
    ),
    Changed(
        "train (--config cifar10-study .*)",
        r"train \1 --models 64 --train 100 --targets 31 --set train.of_target_class=4 --set train.features=",
        "minutes of training, and features are learnt from more images than a small CIFAR-10 has",
    ),
    Changed(
        "--cluster local:2",
        "--cluster local:2 --force test",
        "all else is cached, and workers are to work",
        "docs/cluster.md",
    ),
    Changed(
        "train --config my-study.toml(?! -)",
        "train --config my-study.toml --out sets/by-slurm",
        "it is trained already, and jobs are to work",
        "docs/cluster.md",
    ),
    Changed("--port 8786", "--port @PORT@", "a port of many", "docs/cluster.md"),
    Changed("(.*)tcp://that-machine:8786(.*)", r"\1tcp://127.0.0.1:@PORT@\2", "no such machine", "docs/cluster.md"),
    Changed("--nworkers 8", "--nworkers 1", "seconds for each to start", "docs/cluster.md"),
    Changed("jobs = 20", "jobs = 1", "seconds for each to start", "docs/cluster.md"),
    Changed("(cores|processes) = 16", r"\1 = 1", "seconds for each to start", "docs/cluster.md"),
    Changed(
        "(--dataset cifar10 .*)--train (1000|600) --targets (200|120)",
        r"\1--train 200 --targets 40 --steps 5",
        "a small CIFAR-10",
    ),
    Changed("--steps 60", "--steps 5", "minutes of training", "docs/robustness.md"),
    Parsed("python benchmarks/.*", "minutes to hours"),
    Parsed("python examples/referee/make_scores.py .*", "needs libraries that are no dependency"),
    Parsed("python tests/faults/run.py .*", "a minute; tests/product/test_faults.py does a handful of each kind"),
    Parsed(r"\.venv/bin/(python -m pytest|ruff) .*", "tests and style, of which this is one; the environment is there"),
    Shown("docs/own-training.md", "…\nthe 8 rows", "half a minute; tests/product/test_example_own_function.py runs it"),
    Shown("docs/architecture.md", " file, S3, URL ", "a drawing"),
    Shown("docs/stages.md", "download ─►", "a drawing"),
)
"""All else in a command is as on its page."""


def prepared(desk, page, variables):
    """The run of a page, with its folder prepared."""
    first = FIRST.get(page.name)
    page.blocks.sort(key=lambda block: not (first and block.text.startswith(first)))
    run = Run(desk, page, variables=dict(variables), exceptions=EXCEPTIONS)
    for prepare in PREPARATIONS.get(page.name, ()):
        prepare(run)
    return run
