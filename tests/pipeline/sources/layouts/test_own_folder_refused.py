"""Folders of one's own that cannot be read: one sentence each, with the file and what to do."""

import numpy as np
import pytest
from own_folders import N_MODELS, N_TRAIN, law, lists_of, rectangle, write

from pipeline.errors import BadInputError
from pipeline.images.image_set import Labels
from pipeline.sources.layouts.own_folder import OwnFolder

MASKS, OUTCOMES = law()
INDICES, INDPTR = lists_of(MASKS)
UNSORTED = INDPTR.copy()
UNSORTED[[5, 6]] = UNSORTED[[6, 5]]
BAD = {
    "no masks": ({}, None, "holds outcomes, but neither masks.npy nor indices.npy"),
    "both": ({"masks": MASKS, "indices": rectangle(MASKS)}, None, "holds both masks.npy and indices.npy; keep one"),
    "both outcomes": ({"masks": MASKS, "margins": OUTCOMES}, None, "holds outcomes.npy and margins.npy; keep one"),
    "fewer outcomes": ({"masks": MASKS, "outcomes": OUTCOMES[:9]}, None, "has 9 rows, but .*masks.npy has 600"),
    "text": ({"masks": MASKS, "outcomes": np.array(["a"] * 600)}, None, "must hold real numbers, one row a model"),
    "cube": ({"masks": MASKS, "outcomes": OUTCOMES[..., None]}, None, r"must hold real numbers.* shape \(600, 5, 1\)"),
    "complex": ({"masks": MASKS, "outcomes": OUTCOMES + 1j}, None, "must hold real numbers"),
    "no targets": ({"masks": MASKS, "outcomes": OUTCOMES[:, :0]}, None, "must hold real numbers"),
    "flat masks": ({"masks": MASKS[0]}, None, "must hold one row a model and one column an image"),
    "width": ({"masks": MASKS}, {"n_train": 50}, "has 40 columns, but n_train in subsets.json is 50; as packed bits"),
    "lists of masks": ({"masks": MASKS}, {"lists": "included"}, "lists is for indices.npy, but there is masks.npy"),
    "float lists": ({"indices": rectangle(MASKS) + 0.5}, None, "must hold whole numbers of shape .models, images."),
    "one row": ({"indices": INDICES}, None, "or one row with indptr.npy, but it holds int64 of shape"),
    "lists and ends": ({"indices": rectangle(MASKS), "indptr": INDPTR}, None, "one row of numbers, with indptr.npy"),
    "no ends": ({"indices": INDICES, "indptr": INDPTR + 0.5}, None, "where each list begins and where the last ends"),
    "unsorted ends": ({"indices": INDICES, "indptr": UNSORTED}, None, "must rise from 0 to 12,000.* falls in between"),
    "short ends": ({"indices": INDICES, "indptr": INDPTR[:-1]}, None, "but it goes from 0 to 11,980"),
    "late ends": ({"indices": INDICES, "indptr": INDPTR + 1}, None, "but it goes from 1 to 12,001"),
    "ends of nothing": ({"masks": MASKS, "indptr": INDPTR}, None, "holds indptr.npy, but not the indices.npy"),
    "one image": ({"indices": np.zeros((600, 1), int)}, None, "the lists name too few images; give n_train"),
    "completed": ({"masks": MASKS}, {"completed": [True]}, "completed has 1 entries, but there are 600 models"),
    "two completed": ({"masks": MASKS, "_completed": np.ones(N_MODELS, bool)}, {"completed": [True] * N_MODELS},
                      "says in subsets.json and in _completed.npy what is completed; keep one"),
    "nothing completed": ({"masks": MASKS}, {"completed": [False] * N_MODELS}, "says that no model is completed"),
    "seeds": ({"masks": MASKS}, {"seeds": [1, 2]}, "seeds has 2 entries, but there are 600 models"),
    "names": ({"masks": MASKS}, {"train_names": ["a"]}, "train_names has 1 entries, but there are 40 training images"),
    "targets": ({"masks": MASKS}, {"target_names": ["a"]}, "target_names has 1 entries, but there are 5 targets"),
    "labels": ({"masks": MASKS}, {"train_labels": [0], "target_labels": [0] * 5}, "train_labels has 1 entries"),
    "target labels": ({"masks": MASKS}, {"train_labels": [0] * 40, "target_labels": [0]}, "target_labels has 1"),
    "unknown key": ({"masks": MASKS}, {"gamma": 0.5}, "gamma is not a key; allowed are n_train, lists"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_sentence(tmp_path, case):
    arrays, said, sentence = BAD[case]
    folder = write(tmp_path / "own", **{"outcomes": OUTCOMES, **arrays}, said=said)
    with pytest.raises(BadInputError, match=sentence) as error:
        OwnFolder(folder).open()
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_labels_in_two_places(tmp_path):
    folder = write(tmp_path / "own", OUTCOMES, {"train_labels": [0] * 40, "target_labels": [0] * 5}, masks=MASKS)
    Labels(np.zeros(N_TRAIN, np.int64), np.zeros(5, np.int64), ("a",)).save(folder / "labels.npz")
    with pytest.raises(BadInputError, match=r"has labels in subsets\.json and in labels\.npz; keep one"):
        OwnFolder(folder).open()


def test_pictures_of_others(tmp_path):
    folder = write(tmp_path / "own", OUTCOMES, {"train_labels": [0] * 40, "target_labels": [0] * 5}, masks=MASKS)
    np.savez(folder / "images.npz", train=np.zeros((3, 2, 2), np.uint8), targets=np.zeros((5, 2, 2), np.uint8))
    with pytest.raises(BadInputError, match=r"has 3 training and 5 target images, but there are labels of 40 and 5"):
        OwnFolder(folder).open()
