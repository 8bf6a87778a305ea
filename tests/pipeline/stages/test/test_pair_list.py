"""The CSV file of pairs."""

import numpy as np
import pytest
from named_images import TARGETS, TRAIN
from pair_designs import listed

from pipeline.errors import BadInputError
from pipeline.stages.test.image_references import ImageFinder
from pipeline.stages.test.pair_list import find_targets, read_pairs, target_texts
from pipeline.text.csv_text import write_csv


def saved(folder, text):
    path = folder / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_pairs_and_groups(tmp_path):
    path = saved(tmp_path, 'target,comment,i,j\n0,a,1,2\ndog:1,"b, c",dog:0 4,7:0 5\n0,,2,1\n')
    pairs = read_pairs(path, TRAIN, TARGETS)
    assert listed(pairs) == [((1,), (2,), 0), ((1, 4), (3, 5), 4), ((2,), (1,), 0)]
    assert listed(pairs.distinct()) == [((1,), (2,), 0), ((1, 4), (3, 5), 4)]
    assert target_texts(path) == ["0", "dog:1"]
    assert find_targets(path, TARGETS).tolist() == [0, 4]


def test_many_rows_are_read_into_arrays(tmp_path):
    rng = np.random.default_rng(0)
    i = rng.integers(0, 20, 200_000)
    j = (i + rng.integers(1, 20, i.size)) % 20
    target = rng.integers(0, 5, i.size)
    path = tmp_path / "many.csv"
    np.savetxt(path, np.stack([i, j, target], 1), "%d", ",", header="i,j,target", comments="")
    pairs = read_pairs(path, TRAIN, TARGETS)
    np.testing.assert_array_equal(np.stack([pairs.i, pairs.j, pairs.target], 1), np.stack([i, j, target], 1))
    assert len(pairs.distinct()) == 20 * 19 // 2 * 5


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "is not a CSV file with a first line that names i, j and target, each once"),
    ("1,2,3\n", "is not a CSV file with a first line"),
    ("i,j\n1,2\n", "is not a CSV file with a first line"),
    ("i,j,target\n", "lists no pair"),
    ("i,j,target\n1,2\n", "is not a CSV file"),
    ("i,j,target\n1,2,0\n1,2,5\n", "row 2, column target: there is no target 5: they go from 0 to 4"),
    ("i,j,target\n1,2,0\n3,x,1\n", "row 2, column j: 'x' is not an image"),
    ("i,j,target\n1,2,0\n,2,0\n", "row 2, column i: '' is not an image"),
    ("i,j,target\n1,1,0\n", "row 1: an image stands twice in i and j"),
    ("i,j,target\n1,2,0\n1 2,3 3,0\n", "row 2: an image stands twice in i and j"),
    ("i,j,target\n1,dog:0,0\n", "row 1: an image stands twice"),
    ("i,j,target\n1 2,3,0\n", "row 1: i and j must be groups of equal size"),
    ("i,j,target\n1,2,0 1\n", "row 1: target must be one image"),
    ("i,i,j,target\n1,1,2,0\n", "each once (of these it names i, i, j, target)"),
    ("i;j;target\n1;2;0\n", "is not a CSV file with a first line"),
    ("i,j,target\n\n\n", "lists no pair"),
    ("i,j,target\nyak:1,2,0\n", "row 1, column i: 'yak' is no class"),
])  # fmt: skip
def test_a_bad_file_is_one_sentence_with_its_place(tmp_path, text, sentence):
    with pytest.raises(BadInputError) as caught:
        read_pairs(saved(tmp_path, text), TRAIN, TARGETS)
    assert sentence in str(caught.value)
    assert "test.file" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_what_spreadsheets_write_is_read(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b'\xef\xbb\xbfi,j,target\r\n"1","2","0"\r\n\r\n3, dog:0 ,1\r\n')
    assert listed(read_pairs(path, TRAIN, TARGETS)) == [((1,), (2,), 0), ((3,), (1,), 1)]


def test_no_file(tmp_path):
    with pytest.raises(BadInputError, match="does not exist"):
        target_texts(tmp_path / "none.csv")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"i,j,target\n\xff\xfe,2,0\n")
    with pytest.raises(BadInputError, match="is not a CSV file"):
        read_pairs(path, TRAIN, TARGETS)


def test_names_that_look_like_formulas_are_found_as_our_own_files_write_them(tmp_path):
    names = ImageFinder("training image", 3, None, (), ("=1+1", "@home", "bmi"))
    write_csv(tmp_path / "pairs.csv", ("i", "j", "target"), [("=1+1", "bmi", 0), ("@home", "=1+1", 0)])
    assert "'=1+1" in (tmp_path / "pairs.csv").read_text(encoding="utf-8")
    assert listed(read_pairs(tmp_path / "pairs.csv", names, TARGETS)) == [((0,), (2,), 0), ((1,), (0,), 0)]
