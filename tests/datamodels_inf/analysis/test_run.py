"""One call from masks to findings: what is told on the way, which targets are fitted, and that nothing is printed."""

import numpy as np
import pandas as pd
import pytest
from simulated_models import simulated

from datamodels_inf import PackedMasks, analyse


def test_the_known_effects_are_found_and_the_others_are_not():
    masks, outcomes = simulated(n=2000)
    found = analyse(masks, outcomes, method="contrast").findings()
    assert len(found) >= 15
    touched = (found[["i", "j"]].isin([3, 8])).any(axis=1)
    assert touched.mean() >= 0.8
    first = found.iloc[0]
    assert {first["i"], first["j"]} == {3, 8} and abs(first["effect"]) == pytest.approx(2.0, abs=0.3)
    assert first["effect_low_selected"] <= first["effect_low"] < first["effect"] < first["effect_high"]


def test_every_form_of_masks_gives_the_same_answer():
    masks, outcomes = simulated(n=200)
    expected = analyse(masks, outcomes, k=2).tests()
    lists = [np.flatnonzero(row) for row in masks]
    for form in (masks.astype(float), PackedMasks.from_bool(masks), np.array(lists)):
        assert analyse(form, outcomes, k=2, n_train=30).tests().equals(expected)
    for threads in (1, 3):
        assert analyse(masks, outcomes, k=2, threads=threads).tests().equals(expected)


def test_helpers_of_a_loss_lower_it_unless_the_user_says_otherwise():
    masks, outcomes = simulated(n=600)
    by_name = analyse(masks, outcomes, k=2, outcome="test_loss")
    said, turned = (analyse(masks, outcomes, k=2, higher_is_better=better) for better in (False, True))
    assert by_name.tests().equals(said.tests()) and not by_name.tests().equals(turned.tests())
    assert by_name.influence(0)["estimate"].iloc[0] < 0.0 < turned.influence(0)["estimate"].iloc[0]


def test_only_the_wanted_targets_are_fitted():
    masks, outcomes = simulated(n=200, targets=4)
    assert analyse(masks, outcomes, k=2, targets=[2, 0]).fitted.targets.tolist() == [2, 0]
    assert analyse(masks, outcomes, pairs=[(0, 1, 3), (2, 3, 1)]).fitted.targets.tolist() == [1, 3]
    named = pd.DataFrame(outcomes, columns=list("wxyz"))
    result = analyse(masks, named, k=2, targets=["y"])
    assert result.fitted.targets.tolist() == [2] and set(result.tests()["name_target"]) == {"y"}
    alone = analyse(masks, outcomes[:, [2]], k=2)
    assert np.array_equal(alone.fitted.datamodel.weight, result.fitted.datamodel.weight)
    for targets, words in (([], "at least one"), ([1, 1], "none twice"), ([9], "there is no target 9")):
        with pytest.raises(ValueError, match=words):
            analyse(masks, outcomes, targets=targets)
    with pytest.raises(ValueError, match="`pairs` asks for target 3, which is not among `targets`"):
        analyse(masks, outcomes, pairs=[(0, 1, 3)], targets=[0])


def test_progress_is_told_and_nothing_is_printed(capsys):
    masks, outcomes = simulated(n=200)
    told = []
    analyse(masks, outcomes, k=2, progress=lambda what, share: told.append((what, share)))
    for what in ("fit", "test"):
        shares = [share for name, share in told if name == what]
        assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)
    assert capsys.readouterr() == ("", "")


def test_options_of_the_fit_are_passed_on():
    masks, outcomes = simulated(n=200)
    short, whole = (analyse(masks, outcomes, k=2, lasso=lasso).fitted.datamodel for lasso in ({"n_lambdas": 1}, None))
    assert (short.lam > whole.lam).all() and (short.n_nonzero < whole.n_nonzero).all()  # λ_max alone.
    with pytest.raises(TypeError, match="n_lambda"):
        analyse(masks, outcomes, k=2, lasso={"n_lambda": 1})
    with pytest.raises(ValueError, match="`threads`"):
        analyse(masks, outcomes, k=2, threads=0)
    with pytest.raises(ValueError, match="`k` and `random_partners` must be smaller"):
        analyse(masks, outcomes, k=20)


@pytest.mark.parametrize(("options", "sentence"), [
    ({"names": 5}, "`names` must be of the training images 30 texts, but it is 5"),
    ({"names": "x" * 30}, "`names` must be of the training images 30 texts"),
    ({"pairs": 5}, r"`pairs` must be rows of \(i, j, target\), but it is 5"),
    ({"pairs": [5]}, "row 0 is 5"),
    ({"pairs": [(1, 2)]}, r"row 0 is \(1, 2\)"),
    ({"method": 5}, "`method` must be a name, or several, but it is 5"),
    ({"versus": [5]}, "`versus` must be a name, or several, but it has 5"),
    ({"targets": 5}, "`targets` must be a list of targets, by number or name, but it is 5"),
    ({"higher_is_better": "no"}, "`higher_is_better` must be True or False"),
    ({"lasso": 5}, "`lasso` must be a dictionary"),
    ({"progress": 5}, "`progress` must be a function"),
    ({"rows": "progressive", "blocks": 10**9}, r"`blocks` must be at most \d+, so that each has"),
])  # fmt: skip
def test_options_of_another_type_are_refused_by_name(options, sentence):
    masks, outcomes = simulated(n=200)
    with pytest.raises(ValueError, match=sentence):
        analyse(masks, outcomes, **options)
