"""A module of the user's with functions that train, good ones and bad ones."""

import numpy as np

from datamodels_inf.training.draws import draw_masks, model_seed

MODULE = '''
"""A linear function of the mask, with noise of the model's own."""
import os
import time
from pathlib import Path

import numpy as np

WEIGHTS = np.random.default_rng(0).standard_normal((40, 5))


def train_one(mask, seed):
    return mask @ WEIGHTS + 0.1 * np.random.default_rng(seed).standard_normal(5)


def slow(mask, seed):
    time.sleep(0.02)
    return train_one(mask, seed)


def noisy(mask, seed):
    return mask @ WEIGHTS + np.random.standard_normal(5)


def fails_twice(mask, seed):
    tries = Path(os.environ["TRIES"]) / str(seed)
    with tries.open("a") as file:
        file.write("x")
    if len(tries.read_text()) < 3:
        raise OSError("the disk is\\naway")
    return train_one(mask, seed)


def fails(mask, seed):
    raise ValueError("no way")


def leaves(mask, seed):
    raise SystemExit("bye")


def dies(mask, seed):
    os.kill(os.getpid(), 9)


def three(mask, seed):
    return [1, 2, 3]


def square(mask, seed):
    return np.ones((5, 5))


def unknown(mask, seed):
    return [1, 2, float("nan"), 3, 4]


def huge(mask, seed):
    return [1, 2, 3, 4, 1e300]


def words(mask, seed):
    return "abc"


def nothing(mask, seed):
    pass


def complex_ones(mask, seed):
    return np.ones(5, complex)


def masked(mask, seed):
    return np.ma.array(np.ones(5), mask=[False, True, False, False, False])


def learning(mask, seed):
    import torch

    return torch.ones(5, requires_grad=True)


def endless(mask, seed):
    return [10**400] * 5


def tensor(mask, seed):
    import torch

    return torch.arange(5) + 0.5


def tensors(mask, seed):
    return list(tensor(mask, seed))


def fractions(mask, seed):
    from fractions import Fraction

    return [Fraction(2 * k + 1, 2) for k in range(5)]


def changes_its_mask(mask, seed):
    outcomes = train_one(mask, seed)
    mask[:] = False
    return outcomes


five = 5
'''
WEIGHTS = np.random.default_rng(0).standard_normal((40, 5))
SIZE = ("--train", 40, "--targets", 5)


def write_module(folder, name="mine.py", text=MODULE):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def function(name):
    return ("--function", f"mine:{name}", *SIZE)


def expected(n_models, seed=0, masks=None):
    """What `train_one` gives, trained here."""
    masks = draw_masks(40, 0, n_models, seed=seed) if masks is None else masks
    noise = [np.random.default_rng(model_seed(seed, model)).standard_normal(5) for model in range(n_models)]
    return (masks @ WEIGHTS + 0.1 * np.array(noise)).astype(np.float32)
