"""subsets.json: its keys, and what it must not say."""

import json

import pytest

from pipeline.errors import BadInputError
from pipeline.sources.subsets_file import Subsets, read_subsets


def written(folder, content):
    path = folder / "subsets.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_no_file_says_nothing(tmp_path):
    assert read_subsets(tmp_path / "subsets.json") == Subsets()


def test_labels_by_number_and_by_name_are_the_same(tmp_path):
    path = tmp_path / "subsets.json"
    by_number = Subsets(train_labels=[1, 0, 1], target_labels=[0], class_names=["cat", "dog"]).labels(path)
    by_name = Subsets(train_labels=["dog", "cat", "dog"], target_labels=["cat"]).labels(path)
    assert by_number.class_names == by_name.class_names == ("cat", "dog")
    assert by_number.train_labels.tolist() == by_name.train_labels.tolist() == [1, 0, 1]
    assert Subsets(train_labels=[2, 0], target_labels=[1]).labels(path).class_names == ("0", "1", "2")


def test_only_classes_that_occur_have_names(tmp_path):
    """A large number costs no more than a small one."""
    found = Subsets(train_labels=[30_000_000, 0, 10], target_labels=[10]).labels(tmp_path / "subsets.json")
    assert found.class_names == ("0", "10", "30000000")
    assert (found.train_labels.tolist(), found.target_labels.tolist()) == ([2, 0, 1], [1])


@pytest.mark.parametrize(("content", "sentence"), [
    ("{", "is not valid JSON"),
    ([[1, 2], [3]], "holds a list, .* datamodels-inf import --from bergson"),
    ({"ntrain": 4}, "ntrain is not a key; allowed are n_train, lists, outcome"),
    ({"n_train": "4"}, "n_train: input should be a valid integer"),
    ('{"n_train": ' * 99_999, r"is not valid JSON \(it is nested too deep"),
    ('{"n_train": ' + "9" * 5000 + "}", "is not valid JSON"),
    ({"n_train": 10**30}, "n_train: "),
    ({"n_train": 10**8 + 1}, "n_train: input should be less than or equal to 100000000"),
    ({"train_labels": [2**31]}, "train_labels, entry 0: input should be less than 2147483648"),
    ({"a\x1b[2J": 1}, r"a \[2J is not a key"),
    ({"n_train": 1}, "n_train: input should be greater than or equal to 2"),
    ({"lists": "out"}, "lists: input should be 'included' or 'excluded'"),
    ({"completed": [True, 1]}, "completed, entry 1: input should be a valid boolean"),
    ({"higher_is_better": "yes"}, "higher_is_better: input should be a valid boolean"),
    ({"seeds": [0, 0.5]}, "seeds, entry 1: input should be a valid integer"),
    ({"outcome": ""}, "outcome: string should have at least 1 character"),
    ({"train_names": ["a", 3]}, "train_names, entry 1: input should be a valid string"),
    ("3", "it: input should be a valid dictionary"),
])  # fmt: skip
def test_what_is_refused_is_named(tmp_path, content, sentence):
    with pytest.raises(BadInputError, match=rf"subsets\.json:? {sentence}"):
        read_subsets(written(tmp_path, content))


@pytest.mark.parametrize(("said", "sentence"), [
    ({"train_labels": [0]}, "target_labels is missing; classes of training images and targets go together"),
    ({"target_labels": [0]}, "train_labels is missing"),
    ({"class_names": ["a"]}, "class_names is of no use without"),
    ({"train_labels": [0], "target_labels": [2], "class_names": ["a", "b"]}, "labels and class_names do not fit"),
    ({"train_labels": [0, 1], "target_labels": ["0"]}, "numbers in one of train_labels and target_labels and names in"),
    ({"train_labels": ["a"], "target_labels": [0]}, "numbers in one of train_labels and target_labels and names in"),
    ({"train_labels": [0], "target_labels": [0], "class_names": ["a", "b", "a"]}, 'class_names has "a" twice'),
    ({"train_labels": ["c"], "target_labels": ["a"], "class_names": ["a", "b"]}, "labels and class_names do not fit"),
])  # fmt: skip
def test_labels_that_do_not_fit_together(tmp_path, said, sentence):
    with pytest.raises(BadInputError, match=sentence):
        Subsets(**said).labels(tmp_path / "subsets.json")
