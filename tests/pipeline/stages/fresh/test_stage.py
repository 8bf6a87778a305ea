"""Fresh models: of the set's own law and kind, on masks of their own, and a training that is killed goes on."""

import sys

import numpy as np
import pytest
from killed_run import killed_when
from small_fresh import FRESH, HELPERS, N_TRAIN, batches_of, dense, pipeline
from trained_here import margins_of, noted_units

from datamodels_inf.training.draws import draw_masks
from pipeline.errors import BadInputError
from pipeline.stages.fresh import stage
from pipeline.training.trained_set import TrainedSet
from pipeline.training.work import Models

HERE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_fresh import batches_of, pipeline
from pipeline.stages.fresh import stage
with batches_of(stage, 8):
    pipeline(Path(sys.argv[2]), "verify.fresh=400", "verify.seed=5").run("fresh")
"""


def test_masks_are_of_the_law_of_the_set_and_none_of_its_own(inputs, made):
    masks, margins = dense(inputs["fresh"])
    assert masks.shape == (FRESH, N_TRAIN)
    assert margins.dtype == np.float32
    assert (masks.sum(axis=1) == N_TRAIN // 2).all()
    own = {row.tobytes() for row in np.load(made / "masks.npy")}
    assert not own & {row.tobytes() for row in np.load(inputs["fresh"].folder / "masks.npy")}


def test_no_seed_is_that_of_the_set_or_of_another_purpose(made):
    """The premise: what is drawn from another seed shares nothing."""
    config = pipeline(made, "verify.fresh=400").config
    trained = TrainedSet.of(config, "a test")
    seeds = [trained.job.seed, *(trained.fresh_seed(purpose, k) for purpose in ("fresh", "verify") for k in range(3))]
    assert len(set(seeds)) == len(seeds)
    rows = [draw_masks(N_TRAIN, 0, 50, seed=seed) for seed in seeds]
    assert len({row.tobytes() for some in rows for row in some}) == 50 * len(seeds)


def test_margins_are_those_of_the_recipe_of_the_set(inputs, made):
    masks, margins = dense(inputs["fresh"])
    trained = TrainedSet.of(pipeline(made, "verify.fresh=400").config, "a test")
    unit = Models(trained.fresh_seed("fresh", 0), 0, FRESH)
    np.testing.assert_array_equal(unit.masks(trained.job), masks)
    again = margins_of(trained.job, made / "images.npz", unit)
    np.testing.assert_allclose(margins, trained.job.kept(again), atol=3e-3)


def test_a_killed_training_goes_on_and_gives_the_same(made):
    """Killed after a batch, then the rest is trained; batches change nothing."""
    home = made.parent / "store" / "fresh"
    home.mkdir(parents=True, exist_ok=True)
    killed_when([sys.executable, "-c", HERE, str(HELPERS), str(made)], home, ".work-*/models-*.npz", at_least=2)
    kept = sorted(home.glob(".work-*/models-*.npz"))
    assert 2 <= len(kept) < 50
    before = {path: path.stat().st_mtime_ns for path in kept[1:]}
    kept[0].write_bytes(kept[0].read_bytes()[:-40])
    said = []
    with batches_of(stage, 8), noted_units() as trained:
        result = pipeline(made, "verify.fresh=400", "verify.seed=5", say=said.append).run("fresh")
    assert any("is damaged" in line and "trained again" in line for line in said)
    assert any(f"{len(before)} of 50 batches" in line for line in said)
    assert len(trained) == 50 - len(before)
    whole = pipeline(made, "verify.fresh=401", "verify.seed=5").run("fresh")
    np.testing.assert_array_equal(dense(whole)[0][:400], dense(result)[0])
    np.testing.assert_allclose(dense(whole)[1][:400], dense(result)[1], atol=1e-4)


def test_its_key_knows_the_set_the_number_and_the_seed_alone(made):
    def key(*more):
        return dict(pipeline(made, *more).specs())["fresh"].key

    same = key("verify.fresh=400")
    assert key("verify.fresh=400", "test.alpha=0.1", "source.fit_rows=500", "verify.models=50") == same
    assert len({same, key("verify.fresh=401"), key("verify.fresh=400", "verify.seed=1")}) == 3
    assert "fresh" not in dict(pipeline(made).specs())


def test_few_models_and_sets_that_were_not_trained_here_are_refused(made, tmp_path):
    with pytest.raises(BadInputError, match=r"verify.fresh = 5 is too few models to agree or not; give 16 or more\."):
        dict(pipeline(made, "verify.fresh=5").specs())
    (tmp_path / "other").mkdir()
    for name, array in (("masks", np.zeros((4, 3), bool)), ("margins", np.zeros((4, 2), np.float16))):
        np.save(tmp_path / "other" / f"{name}.npy", array)
    other = pipeline(tmp_path / "other", "verify.fresh=400")
    with pytest.raises(BadInputError, match="this source was not made by datamodels-inf train"):
        dict(other.specs())
