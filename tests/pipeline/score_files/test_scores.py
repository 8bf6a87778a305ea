"""Which way round scores are, and what is said and refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import BadInputError
from pipeline.score_files import read_scores, score_content

MADE = Path(__file__).parent / "made_by_tools"
with np.load(MADE / "plain.npz") as _file:
    PLAIN = dict(_file)


@pytest.mark.parametrize(
    ("name", "tool", "turned"),
    (
        ("traker.mmap", "traker", False),
        ("dattri.pt", "dattri", False),
        ("kronfluence-all.safetensors", "kronfluence", True),
        ("kronfluence-modules.safetensors", "kronfluence", True),
        ("bergson-float32/scores.bin", "dattri", False),
    ),
)
def test_scores_of_every_tool_are_training_images_by_targets(name, tool, turned):
    scores = read_scores(MADE / name, 12, 5)
    np.testing.assert_allclose(scores.weight, PLAIN[tool], rtol=1e-5, atol=1e-6)
    said = f"{Path(name).name} has a row for each target: it was turned to training images × targets"
    assert (said in scores.notes) == turned


def test_square_scores_are_taken_as_they_are_and_that_is_said(tmp_path):
    array = np.arange(9.0).reshape(3, 3)
    np.save(tmp_path / "s.npy", array)
    scores = read_scores(tmp_path / "s.npy", 3, 3)
    np.testing.assert_array_equal(scores.weight, array)
    (note,) = scores.notes
    assert note.startswith("s.npy is square: its rows are taken as training images")


def test_one_target_may_have_no_axis(tmp_path):
    np.save(tmp_path / "s.npy", np.arange(4.0))
    assert read_scores(tmp_path / "s.npy", 4, 1).weight.shape == (4, 1)


@pytest.mark.parametrize("turned", (False, True))
def test_bias_and_lam_stay_with_their_targets(tmp_path, turned):
    weight = np.arange(6.0).reshape(3, 2)
    torch.save({"weight": torch.tensor(weight.T if turned else weight), "bias": torch.tensor([1.0, 2.0]),
                "lam": torch.tensor([3.0, 4.0])}, tmp_path / "d.pt")  # fmt: skip
    scores = read_scores(tmp_path / "d.pt", 3, 2)
    np.testing.assert_array_equal(scores.weight, weight)
    assert scores.bias.tolist() == [1.0, 2.0]
    assert scores.lam.tolist() == [3.0, 4.0]


BAD = {
    "other shape": (
        np.ones((3, 4)),
        r"must have shape \(3, 2\), training images × targets, or its transpose, but it has \(3, 4\)\.$",
    ),
    "three axes": (np.ones((3, 2, 1)), r"but it has \(3, 2, 1\)\.$"),
    "text": (np.full((3, 2), "x"), r"is not a file of weights or scores \(ValueError: weight holds <U1, not numbers\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_one_sentence_that_names_the_setting(tmp_path, case):
    array, sentence = BAD[case]
    np.save(tmp_path / "s.npy", array)
    with pytest.raises(BadInputError, match=sentence) as stopped:
        read_scores(tmp_path / "s.npy", 3, 2, "referee.scores")
    assert str(stopped.value).startswith("referee.scores ")


def test_a_bias_of_another_length_is_refused(tmp_path):
    np.savez(tmp_path / "s.npz", weight=np.ones((3, 2)), bias=np.ones(3))
    with pytest.raises(BadInputError, match=r"must hold weight of shape .* but it has weight \(3, 2\), bias \(3,\)"):
        read_scores(tmp_path / "s.npz", 3, 2)


def test_two_arrays_without_the_name_weight_are_not_guessed_at(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(BadInputError, match="no array named weight, and not one array alone"):
        read_scores(tmp_path / "two.npz", 2, 2)


def test_a_key_knows_the_content_and_what_describes_it(tmp_path):
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", np.ones(3))
    assert score_content(tmp_path / "a.npy", "k") == score_content(tmp_path / "b.npy", "k")
    both = score_content(MADE / "bergson-float32" / "scores.bin", "k")
    assert len(both) == 2
    with pytest.raises(BadInputError, match=r"k none\.npy does not exist; name a \.npy, \.npz, \.pt or \.safetensors"):
        score_content(Path("none.npy"), "k")


def test_a_square_file_of_a_known_format_is_turned(tmp_path):
    """kronfluence has a row for each query, also where there are as many as training images."""
    scores = np.arange(16, dtype=np.float32).reshape(4, 4)
    save_file({"all_modules": torch.from_numpy(scores)}, tmp_path / "square.safetensors")
    found = read_scores(tmp_path / "square.safetensors", 4, 4)
    np.testing.assert_array_equal(found.weight, scores.T)
    assert found.notes == ("square.safetensors has a row for each target: it was turned to training images × targets",)
