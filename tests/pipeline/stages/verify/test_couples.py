"""Couples are trained once a pair, from equal weights, with masks that differ in the two images alone."""

from dataclasses import replace

import numpy as np
import pytest
from small_trained import make_claim
from trained_here import margins_of, noted_units

from datamodels_inf.counterfactual import Retrained
from pipeline.config_files import load_config
from pipeline.errors import BadInputError, WorkStoppedError
from pipeline.places.processes import Processes
from pipeline.stages.verify.couples import Couples, Step, sides_of
from pipeline.training.trained_set import TrainedSet


@pytest.fixture
def couples_of(small_set, tmp_path):
    config = load_config("digits", ["source.kind=files", f"source.folder={small_set / 'set'}"])
    trained = TrainedSet.of(config, "verify")

    def make(claims, n=4, **changes):
        changed = replace(trained, job=replace(trained.job, **changes))
        return Couples(changed, claims, n, 0, tmp_path, Processes(1), True, print)

    return make


def test_claims_of_a_pair_share_models_whichever_image_comes_first(couples_of):
    """Held against models trained here, one by one."""
    pair = make_claim(members_i=(9,), members_j=(3,), target=1)
    claims = [pair, replace(pair, target=7), replace(pair, members_i=(3,), members_j=(9,)), make_claim()]
    couples = couples_of(claims)
    assert couples.n_models == 2 * 2 * 4
    rows = couples.verified()
    assert rows[2].fresh_effect == pytest.approx(-rows[0].fresh_effect, rel=1e-12)
    assert rows[1].fresh_effect != rows[0].fresh_effect
    job, units = couples.trained.job, [couples._models(Step(0, side, 0, 4)) for side in (0, 1)]
    assert sides_of(pair) == ((3,), (9,))
    masks = [unit.masks(job) for unit in units]
    assert [mask[:, [3, 9]].all(axis=0).tolist() for mask in masks] == [[True, False], [False, True]]
    assert {(unit.seed, unit.first) for unit in units} == {(units[0].seed, 0)}
    with_3, with_9 = (job.kept(margins_of(job, couples.trained.inputs_file, unit))[:, 1] for unit in units)
    expected = Retrained.of(with_9, with_3)
    assert (rows[0].fresh_effect, rows[0].fresh_se) == pytest.approx((expected.effect, expected.standard_error))


def test_each_pair_has_models_of_its_own_and_none_of_the_set(couples_of):
    couples = couples_of([make_claim(), make_claim(members_i=(4,)), make_claim(members_i=(1, 5), members_j=(2, 6))])
    seeds = {couples._models(Step(pair, 0, 0, 4)).seed for pair in range(3)}
    assert len(seeds) == 3
    assert couples.trained.job.seed not in seeds


@pytest.mark.parametrize(("law", "sizes"), (("fixed-size", {12}), ("bernoulli", None)))
def test_masks_are_of_the_law_of_the_set(couples_of, law, sizes):
    couples = couples_of([make_claim()], n=64, law=law, proportion=0.3)
    masks = couples._models(Step(0, 0, 0, 64)).masks(couples.trained.job)
    counts = masks.sum(axis=1)
    assert set(counts.tolist()) == sizes if sizes else counts.std() > 1.5
    assert abs(np.delete(masks, [1, 2], axis=1).mean() - 0.3) < 0.04


def test_groups_that_no_mask_tells_apart_are_refused_by_name(couples_of):
    claim = make_claim(members_i=(1, 3, 5), members_j=(2, 4, 6))
    with pytest.raises(BadInputError, match=r"groups 1 3 5 and 2 4 6 cannot be forced in and out"):
        couples_of([claim], proportion=0.05).verified()


def test_a_batch_that_is_there_is_not_trained_again_and_a_damaged_one_is(couples_of, capsys, monkeypatch):
    from pipeline.stages.verify import couples as module

    monkeypatch.setattr(module, "CHUNK", 2)
    with noted_units() as seen:
        rows = couples_of([make_claim()]).verified()
        couples = couples_of([make_claim()])
        assert couples.verified() == rows
        assert len(seen) == 4
        path = couples.unfinished / Step(0, 1, 2, 4).name
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        assert couples_of([make_claim()]).verified() == rows
    assert [(unit.first, unit.side) for unit in seen[4:]] == [(2, 1)]
    assert "its models are trained again" in capsys.readouterr().out


def test_a_batch_that_is_damaged_after_it_was_looked_at_stops_the_work_and_is_no_bad_input(couples_of):
    couples = couples_of([make_claim()])
    couples.verified()
    path = couples.unfinished / Step(0, 1, 0, 4).name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(WorkStoppedError, match=rf"{path.name} is damaged .* run it again\."):
        couples_of([make_claim()])._margins  # noqa: B018
