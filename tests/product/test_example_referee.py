"""The parts of examples/referee that need no other library: its checkpoints are models like the embedded ones."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "referee"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("make_scores", EXAMPLE / "make_scores.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_scores"] = module
    spec.loader.exec_module(module)
    return module


def test_fresh_checkpoints_have_the_margins_of_the_embedded_models(example):
    """Means over models on each of the 120 targets agree as those of two sets of embedded models of that size do."""
    digits = example.Digits.load()
    x, y = digits.targets.tensors
    models = example.checkpoints(digits, 24)
    with torch.no_grad():
        fresh = np.stack([example.margin(model(x), y).numpy() for model in models])
    margins = np.load(ROOT / "pipeline" / "embedded" / "digits" / "margins.npy")[:4800].astype(float)
    sets = margins.reshape(200, 24, -1).mean(axis=1)
    distance = np.abs(sets - margins.mean(axis=0)).mean(axis=1)
    assert np.abs(fresh.mean(axis=0) - margins.mean(axis=0)).mean() < distance.max() * 1.1
    assert fresh.std(axis=0).mean() == pytest.approx(margins.std(axis=0).mean(), rel=0.15)


def test_no_checkpoint_is_a_tested_model(example):
    from datamodels_inf.training.draws import draw_masks

    masks = np.unpackbits(np.load(ROOT / "pipeline" / "embedded" / "digits" / "masks.npy"), axis=1, count=400)
    known = {row.tobytes() for row in masks.astype(bool)}
    assert not known & {row.tobytes() for row in draw_masks(400, 0, 50, seed=example.SEED)}


def test_the_margin_is_that_of_the_true_class(example):
    logits = torch.tensor([[1.0, 4.0, 2.0], [5.0, 0.0, -1.0]])
    assert example.margin(logits, torch.tensor([1, 2])).tolist() == [2.0, -6.0]


def test_versions_are_pinned():
    lines = [line for line in (EXAMPLE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert {"dattri", "traker", "kronfluence"} <= {line.partition("==")[0] for line in lines}
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
