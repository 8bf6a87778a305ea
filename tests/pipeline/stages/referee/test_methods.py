"""Scores of the methods on the fitted targets, and what is refused."""

import numpy as np
import pytest
from small_refereed import TARGETS, pipeline

from pipeline.errors import BadInputError
from pipeline.stages.inputs import Data, Fitted
from pipeline.stages.referee.methods import contents, scored_methods
from pipeline.text.referee_words import OWN


def scored(source, store, *more, said=None, **options):
    made = pipeline(source, store, *more, **options)
    data, fitted = Data.of(made.run("download"), made.config), Fitted.of(made.run("fit"))
    return scored_methods(made.config, data, fitted, (lambda line: None) if said is None else said.append), fitted


def test_each_method_has_the_columns_of_the_fitted_targets(source, store):
    said = []
    methods, fitted = scored(source, store, "fit.targets=[4,1]", said=said)
    np.testing.assert_array_equal(methods[0].of(slice(0, 2)), np.load(source / "good.npy")[:, [4, 1]])
    np.testing.assert_array_equal(methods[2].of(slice(1, 2)), np.load(source / "noise.npy").T[:, [1]])
    np.testing.assert_array_equal(methods[3].of(slice(None)), fitted.datamodel.weight)
    assert [method.source == OWN for method in methods] == [False, False, False, True]
    assert said == ["noise.npy has a row for each target: it was turned to training images × targets"]


def test_a_negated_method_is_turned(source, store):
    methods, fitted = scored(source, store, "referee.negate=['turned','lasso']")
    np.testing.assert_array_equal(methods[1].of(slice(None)), -np.load(source / "turned.npy"))
    np.testing.assert_array_equal(methods[3].of(slice(None)), -fitted.datamodel.weight.astype(float))
    assert [method.negated for method in methods] == [False, True, False, True]


def test_scores_must_be_finite_and_the_sentence_names_the_target(source, store, tmp_path):
    bad = np.zeros((24, TARGETS))
    bad[3, 2] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    (method,), _ = scored(source, store, f"referee.scores={[str(tmp_path / 'bad.npy')]}")
    with pytest.raises(BadInputError, match=r"bad\.npy holds NaN or infinity \(on target 2\); scores must be finite"):
        method.of(slice(None))


def test_lasso_is_no_name_for_weights_from_a_file(source, tmp_path):
    config = pipeline(source, tmp_path, "fit.mode=load", f"fit.file={source / 'good.npy'}").config
    with pytest.raises(BadInputError, match=r"'lasso' is the LASSO of this configuration, but fit\.mode is"):
        contents(config)


AHEAD = {
    "missing": (None, r"referee\.scores .*given\.npy does not exist", []),
    "unreadable": (b"nothing of the kind", r"given\.npy is not a file of weights or scores", []),
    "shape": (np.ones((24, TARGETS + 1)), r"must have shape \(24, 6\), .* but it has \(24, 7\)", ["download"]),
    "infinite": (np.full((24, TARGETS), np.inf), r"holds NaN or infinity \(on target 0\)", ["download"]),
}


@pytest.mark.parametrize("case", AHEAD)
def test_what_is_wrong_with_a_file_is_said_before_the_fit(source, tmp_path, case):
    given, sentence, ran = AHEAD[case]
    path, lines = tmp_path / "given.npy", []
    if isinstance(given, bytes):
        path.write_bytes(given)
    elif given is not None:
        np.save(path, given)
    made = pipeline(source, tmp_path / "store", f"referee.scores={[str(path)]}", lines=lines)
    with pytest.raises(BadInputError, match=sentence):
        made.run("referee")
    assert [line.split()[0] for line in lines if "running" in line] == ran


def test_scores_of_targets_that_are_not_fitted_may_be_anything(source, tmp_path):
    scores = np.load(source / "good.npy")
    scores[:, 2] = np.nan
    np.save(tmp_path / "some.npy", scores)
    lines = []
    chosen = "fit.targets=[4,1]", f"referee.scores={[str(tmp_path / 'some.npy')]}"
    pipeline(source, tmp_path / "store", *chosen, lines=lines).run("referee")
    assert any(line.startswith("referee") and "running" in line for line in lines)
