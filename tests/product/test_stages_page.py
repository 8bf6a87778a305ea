"""docs/stages.md against the table of stages and against the files of a store that has them all."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_here import ok
from places import ROOT

from pipeline.stages import STAGES

PAGE = (ROOT / "docs" / "stages.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
TYPES = {
    "text": "string", "list": "list<element: int64>", "float64": "double", "float32": "float", "bool": "bool",
    "int64": "int64", "int16": "int16", "int8": "int8",
}  # fmt: skip
WHERE = {"NNNNNN": r"\d{6}", "METHOD": r"[a-z-]+", "K": r"\d+"}
OFTEN_MISSING = {"names.json", "tails-NNNNNN.npy"}
"""What the models of the test have no use for: no names, and masks that hold half of the images."""
TRAIN = ("--train", 40, "--targets", 20, "--models", 1200, "--steps", 5, "--hidden", 4, "--workers", 1)
SETTINGS = (
    "source.kind=files", "source.folder=set", "fit.n_lambdas=6", "fit.targets=all", "test.rows=progressive",
    "test.repeats=2", "test.target_class=1", "test.alpha=0.9", "test.correction=prior", "test.method=contrast",
    "atlas.targets=all", "robustness.top=1", "robustness.n_targets=2", "robustness.neighbours=1",
    "robustness.metric=features", "verify.top=1", "verify.models=16", "verify.fresh=64", "report.max_panels=1",
)  # fmt: skip


def described(stage):
    """{file: its cell} of the tables of a stage."""
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", SECTIONS[stage], re.MULTILINE)
    return {name: cell for names, cell in rows for name in re.findall(r"`([^`]+)`", names)}


def pattern(name):
    """Of the file names that a name on the page stands for."""
    text = re.escape(name)
    for word, digits in WHERE.items():
        text = re.sub(rf"(?<![A-Z]){word}(?![A-Z])", lambda _, digits=digits: digits, text)
    return re.compile(text)


def entries(cell):
    """{name: type} of what a cell says that a file holds."""
    return dict(re.findall(rf"`(\w+)` ({'|'.join(TYPES)}|uint8)\b", cell))


def held(path):
    """The same of a file."""
    if path.suffix == ".parquet":
        schema = pq.read_schema(path)
        return {field.name: str(pa.field(field.name, field.type).type) for field in schema}
    with np.load(path) as arrays:
        return {name: "text" if arrays[name].dtype.kind == "U" else str(arrays[name].dtype) for name in arrays}


def as_written(name):
    """claim_1 is claim_K on the page, and after_3 one of after_1, after_2, …"""
    return re.sub(r"^(claim|kind|rank|gap|adjusted|verdict)_\d+$", r"\1_K", name)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """All stages once, on forty digits."""
    folder = tmp_path_factory.mktemp("all-stages")
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    ok(folder, "train", "--quiet", "--out", "set", *TRAIN)
    ok(folder, "run", "--quiet", "--threads", 1, "--store", "data", *settings)
    rng = np.random.default_rng(0)
    np.save(folder / "noise.npy", rng.normal(size=(40, 20)))
    scores = ("--scores", "noise.npy", "--scores", "lasso", "--unseen")
    ok(folder, "referee", "--quiet", "--threads", 1, "--store", "data", *scores, *settings)
    return folder / "data"


def files_of(store, stage):
    (folder,) = (path for path in (store / stage).iterdir() if not path.name.startswith("."))
    return {
        f"{path.name}/" if path.is_dir() else path.name: path
        for path in folder.iterdir()
        if path.name != "manifest.json"
    }


def test_every_stage_has_its_section_in_their_order():
    assert [name for name in SECTIONS if name in STAGES] == list(STAGES)
    assert set(SECTIONS) == set(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_a_section_names_its_inputs_and_settings(stage):
    text = SECTIONS[stage]
    assert "**Reads**" in text and "**Settings**" in text
    reads = text.partition("**Reads**")[2].partition("**Settings**")[0]
    missing = [name for name in STAGES[stage].inputs if not re.search(rf"\b{name}\b", reads)]
    assert not missing or "all stages above" in reads


@pytest.mark.parametrize("stage", STAGES)
def test_the_files_of_a_stage_are_those_of_its_table(store, stage):
    said, found = described(stage), files_of(store, stage)
    unnamed = [name for name in found if not any(pattern(other).fullmatch(name) for other in said)]
    absent = [name for name in said if not any(pattern(name).fullmatch(other) for other in found)]
    assert unnamed == []
    assert [name for name in absent if name not in OFTEN_MISSING] == []


@pytest.mark.parametrize("stage", STAGES)
def test_a_file_holds_what_the_page_says(store, stage):
    said = described(stage)
    for name, path in files_of(store, stage).items():
        (cell,) = [cell for other, cell in said.items() if pattern(other).fullmatch(name)][:1]
        if path.suffix == ".npy":
            assert str(np.load(path, mmap_mode="r").dtype) in cell, name
        elif path.suffix in (".npz", ".parquet") and cell != said.get("datamodel-K.npz"):
            types = TYPES if path.suffix == ".parquet" else {}
            wanted = {key: types.get(kind, kind) for key, kind in entries(cell).items()}
            has = {as_written(key): kind for key, kind in held(path).items() if not re.match(r"after_[3-9]", key)}
            assert has == wanted, name
