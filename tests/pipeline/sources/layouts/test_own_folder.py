"""A folder of one's own: every form of masks is the same to a run, what is assumed is said, what is wrong is named."""

import json

import numpy as np
import pytest
from own_folders import FIXED, N_MODELS, N_TARGETS, N_TRAIN, RAGGED, forms, law, lists_of, rectangle, write

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.images.image_set import ImageSet, Labels
from pipeline.run import Pipeline
from pipeline.sources.layouts.own_folder import OwnFolder
from pipeline.stages.inputs import Data

MASKS, OUTCOMES = law()
SETTINGS = ("source.kind=files", "test.target_class=", "test.repeats=", "test.design=", "source.fit_rows=200",
            "source.held_out_rows=400", "fit.n_lambdas=5")  # fmt: skip


def pipeline(folder, *settings, say=lambda line: None):
    config = load_config("digits", [*SETTINGS, f"source.folder={folder}", *settings])
    return Pipeline(config, folder.parent / "store", folder.parent, quiet=True, say=say)


def downloaded(folder, *settings):
    """(manifest of the download stage, bytes of its arrays)."""
    result = pipeline(folder, *settings).run("download")
    return result, [(result.folder / name).read_bytes() for name in ("masks.npy", "margins.npy")]


@pytest.mark.parametrize("sizes", (FIXED, RAGGED))
def test_masks_in_any_form_are_the_same_bytes_in_the_store(tmp_path, sizes):
    masks, outcomes = law(sizes)
    found = {}
    for name, (said, arrays) in forms(sizes).items():
        result, found[name] = downloaded(write(tmp_path / name, outcomes, said, **arrays))
        data = Data.of(result, pipeline(tmp_path / name).config)
        np.testing.assert_array_equal(data.fit_masks.to_bool(), masks[:200])
        np.testing.assert_array_equal(data.held_out_masks.to_bool(), masks[200:])
    assert len(found) == (8 if sizes == FIXED else 6)
    assert all(content == found["bool"] for content in found.values())


def test_one_target_may_be_one_row_of_numbers(tmp_path):
    flat = downloaded(write(tmp_path / "flat", OUTCOMES[:, 0], masks=MASKS))
    column = downloaded(write(tmp_path / "column", OUTCOMES[:, :1], masks=MASKS))
    assert flat[1] == column[1] and flat[0].summary["n_targets"] == 1


def test_what_is_assumed_is_said_once_each(tmp_path):
    opened = OwnFolder(write(tmp_path / "lists", OUTCOMES, indices=rectangle(MASKS))).open()
    assert opened.assumed == (
        'lists: taken as those included in a mask; "lists": "excluded" in subsets.json says otherwise',
        "n_train 40: the largest index is 39; if later images are in no list, give n_train in subsets.json",
        'outcome: called "outcome"; subsets.json can name it (margin, loss, accuracy, …)',
        'higher_is_better true: assumed of "outcome"',
    )
    said = {"n_train": 41, "lists": "included", "outcome": "loss"}
    opened = OwnFolder(write(tmp_path / "named", OUTCOMES, said, indices=rectangle(MASKS))).open()
    assert opened.assumed == ('higher_is_better false: by the name "loss"',)
    assert (opened.n_train, opened.outcome, opened.higher_is_better) == (41, "loss", False)
    said = {"n_train": 40, "outcome": "loss", "higher_is_better": True}
    opened = OwnFolder(write(tmp_path / "packed", OUTCOMES, said, masks=np.packbits(MASKS, axis=1))).open()
    assert opened.assumed == ("masks: packed bits, 5 bytes a row for n_train 40",) and opened.higher_is_better


def test_lists_that_count_from_1_are_asked_about(tmp_path):
    opened = OwnFolder(write(tmp_path / "own", OUTCOMES, {"n_train": 41}, indices=rectangle(MASKS) + 1)).open()
    asked = "image 0 is in no list: do the lists count from 1? Images count from 0: then subtract 1"
    assert asked in opened.assumed
    assert asked not in OwnFolder(write(tmp_path / "from 0", OUTCOMES, indices=rectangle(MASKS))).open().assumed


def test_lists_of_different_lengths_in_one_array_are_told_how_to_be_saved(tmp_path):
    lists = np.empty(N_MODELS, object)
    lists[:] = [np.flatnonzero(mask) for mask in law(RAGGED)[0]]
    folder = write(tmp_path / "own", OUTCOMES)
    np.save(folder / "indices.npy", lists, allow_pickle=True)
    with pytest.raises(
        BadInputError, match=r"indices\.npy holds Python objects.*np\.concatenate\(lists\) as indices\.npy.*indptr"
    ):
        OwnFolder(folder).open()
    np.save(folder / "indices.npy", np.concatenate(lists))
    np.save(folder / "indptr.npy", np.cumsum([0, *map(len, lists)]))
    np.testing.assert_array_equal(
        OwnFolder(folder).open().masks.bits(np.arange(3)), np.packbits(law(RAGGED)[0][:3], axis=1)
    )


def test_what_a_name_is_taken_to_mean_enters_the_key(tmp_path, monkeypatch):
    folder = OwnFolder(write(tmp_path / "own", OUTCOMES, {"outcome": "test_loss"}, masks=MASKS))
    assert not folder.open().higher_is_better
    before = folder.content()
    monkeypatch.setattr("pipeline.sources.layouts.own_folder.higher_is_better_by_name", lambda name: True)
    assert folder.content() != before


@pytest.mark.parametrize("what", ("labels", "names", "pictures"))
def test_of_lists_other_things_tell_how_many_images_there_are(tmp_path, what):
    said = {"labels": {"train_labels": [0] * 44, "target_labels": [0] * 5}, "names": {"train_names": ["x"] * 44}}
    folder = write(tmp_path / "lists", OUTCOMES, said.get(what), indices=rectangle(MASKS))
    if what == "pictures":
        np.savez(folder / "images.npz", train=np.ones((44, 2, 2), np.uint8), targets=np.ones((5, 2, 2), np.uint8))
    opened = OwnFolder(folder).open()
    assert opened.n_train == 44 and f"n_train 44: as many as there are {what}" in opened.assumed


def test_margins_beside_a_subsets_file_are_margins(tmp_path):
    folder = write(tmp_path / "own", None, {"seeds": list(range(N_MODELS))}, margins=OUTCOMES, masks=MASKS)
    opened = OwnFolder(folder).open()
    assert (opened.outcome, opened.repeated) == ("margin", True)
    result, _ = downloaded(folder)
    assert "outcome" not in result.summary


def test_a_run_says_what_was_assumed_and_left_out(tmp_path):
    outcomes = OUTCOMES.copy()
    outcomes[[3, 500]] = np.nan
    completed = [row != 7 for row in range(N_MODELS)]
    lines = []
    folder = write(tmp_path / "own", outcomes, {"completed": completed, "outcome": "accuracy"}, masks=MASKS)
    result = pipeline(folder, "source.held_out_rows=397", say=lines.append).run("download")
    assert result.summary["n_unfinished"] == 3 and result.summary["outcome"] == "accuracy"
    for part in (
        "1 model is not completed",
        "2 models have no outcome, NaN for every target",
        'higher_is_better true: assumed of "accuracy"',
        'no labels: nothing is drawn by class, so test.design is "top", on all targets',
    ):
        assert sum(part in line for line in lines) == 1, part


@pytest.mark.parametrize(("largest", "said", "sentence"), [
    (10**9, None, r"largest index is 1,000,000,000, but the lists have 12,000 entries in all.* say n_train in subsets"),
    (1_200_000, None, "the largest index is 1,200,000"),
    (2**62, None, "the largest index is"),
    (5, {"n_train": 10**8 + 1}, "n_train: input should be less than"),
])  # fmt: skip
def test_a_number_of_images_that_no_set_has_is_refused(tmp_path, largest, said, sentence):
    lists = rectangle(MASKS).copy()
    lists[3, 0] = largest
    with pytest.raises(BadInputError, match=sentence):
        OwnFolder(write(tmp_path / "own", OUTCOMES, said, indices=lists)).open()


def test_masks_that_fit_nowhere_are_refused(tmp_path):
    folder = write(tmp_path / "own", np.zeros((6000, 1)), {"n_train": 10**8}, indices=np.zeros((6000, 1), np.int64))
    with pytest.raises(BadInputError, match=r"6,000 models of 100,000,000 images are 75\.0 GB of bits"):
        OwnFolder(folder).open()


def test_a_damaged_archive_of_images_is_said_where_it_is_read(tmp_path):
    folder = write(tmp_path / "own", OUTCOMES, masks=MASKS)
    (folder / "images.npz").write_bytes(b"PK\x03\x04 and no more")
    assert OwnFolder(folder).labelled()  # Not known, and no failure.
    with pytest.raises(BadInputError, match=r"images\.npz is not a whole image set"):
        OwnFolder(folder).open()


def test_a_design_that_was_chosen_is_not_told(tmp_path):
    lines = []
    folder = write(tmp_path / "own", OUTCOMES, masks=MASKS)
    pipeline(folder, "test.design=top", "test.targets=all", say=lines.append).run("download")
    assert not any("test.design" in line for line in lines)


def test_the_key_is_of_every_file_that_is_read(tmp_path):
    indices, indptr = lists_of(MASKS)
    folder = write(tmp_path / "own", OUTCOMES, {"n_train": N_TRAIN}, indices=indices, indptr=indptr)
    config = pipeline(folder).config

    def key():
        return next(iter(Pipeline(config, tmp_path / "store", tmp_path).specs()))[1].key

    keys = {key()}
    np.save(folder / "outcomes.npy", OUTCOMES + 1)
    keys.add(key())
    np.save(folder / "indices.npy", indices[::-1])
    keys.add(key())
    np.save(folder / "indptr.npy", indptr.astype(np.int32))
    keys.add(key())
    np.save(folder / "_completed.npy", np.ones(N_MODELS, bool))
    keys.add(key())
    (folder / "subsets.json").write_text(json.dumps({"n_train": N_TRAIN, "outcome": "loss"}))
    keys.add(key())
    labels = Labels(np.zeros(N_TRAIN, np.int64), np.zeros(N_TARGETS, np.int64), ("a",))
    labels.save(folder / "labels.npz")
    keys.add(key())
    np.savez(folder / "images.npz", train=np.zeros((N_TRAIN, 2, 2), np.uint8))
    keys.add(key())
    labels.save(tmp_path / "labels.npz")
    config = pipeline(folder, f"source.labels={tmp_path / 'labels.npz'}").config
    keys.add(key())
    assert len(keys) == 9


def test_names_labels_and_pictures_reach_the_later_stages(tmp_path):
    names = [f"patient {k}" for k in range(N_TRAIN)]
    said = {"train_names": names, "target_names": list("abcde"), "train_labels": ["ill", "well"] * 20,
            "target_labels": ["ill"] * 5}  # fmt: skip
    folder = write(tmp_path / "own", OUTCOMES, said, masks=MASKS)
    pictures = np.arange(N_TRAIN * 4).reshape(N_TRAIN, 2, 2).astype(np.uint8)
    np.savez(folder / "images.npz", train=pictures, targets=pictures[:N_TARGETS])
    run = pipeline(folder)
    assert run.config.test.design == "paper"  # There are classes, so nothing else was chosen.
    result, _ = downloaded(folder)
    data = Data.of(result, run.config)
    assert (data.names.train[3], data.names.targets[4]) == ("patient 3", "e")
    assert data.labels.class_names == ("ill", "well") and data.labels.train_labels.tolist()[:2] == [0, 1]
    np.testing.assert_array_equal(data.images.train, pictures)
    assert data.images.class_names == ("ill", "well")


def test_pictures_need_no_classes(tmp_path):
    folder = write(tmp_path / "own", OUTCOMES, masks=MASKS)
    np.savez(folder / "images.npz", train=np.ones((N_TRAIN, 3, 3), np.uint8), targets=np.ones((5, 3, 3), np.uint8))
    run = pipeline(folder)
    assert run.config.test.design == "top" and run.config.test.targets == "all"
    data = Data.of(run.run("download"), run.config)
    assert data.labels is None and data.images.known_labels is None and len(data.images.train) == N_TRAIN


def test_with_labels_of_its_own_the_images_are_those_of_the_classes(tmp_path):
    folder = write(tmp_path / "own", OUTCOMES, masks=MASKS)
    Labels(np.arange(N_TRAIN) % 2, np.zeros(5, np.int64), ("a", "b")).save(folder / "labels.npz")
    pictures = np.zeros((N_TRAIN, 2, 2), np.uint8), np.zeros((5, 2, 2), np.uint8)
    ImageSet(pictures[0], np.zeros(N_TRAIN, np.int64), pictures[1], np.zeros(5, np.int64), ("x",)).save(
        folder / "images.npz"
    )
    opened = OwnFolder(folder).open()
    assert opened.images.class_names == ("a", "b") and opened.images.train_labels.tolist() == [0, 1] * 20
