"""The atlas stage: which targets it has, what changes its key, what it refuses, and a run that was killed."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from blocks import block_target
from killed_run import killed_when
from masks_of_people import FIT_ROWS, HELD_OUT, make
from small_atlas import ALL, TARGETS, atlas_of, pipeline, words

from datamodels_inf import PackedMasks, influence
from datamodels_inf.pooled import pooled_target
from datamodels_inf.row_blocks import block_ends
from pipeline.commands.estimated import Estimated
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline
from pipeline.stages.atlas.tiles import Atlas
from pipeline.stages.inputs import datamodel_files

DOGS = list(range(1, TARGETS, 2))
SMALL_TILES = "import pipeline.stages.atlas.tiles as tiles; tiles.TILE_BYTES = 1; "
SLOW = (
    "import time; from datamodels_inf.atlas import AtlasMaker; real = AtlasMaker.tile; "
    "AtlasMaker.tile = lambda *given: (time.sleep(given[1].start and 60), real(*given))[1]; "
)
MAIN = "from pipeline.cli import main; main()"


def states(lines):
    return {line.split()[0]: line.split()[1] for line in lines if not line.startswith(" ")}


def tiles_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.npy"))}


@pytest.mark.parametrize(("wanted", "targets"), [
    ("needed", DOGS),
    ("all", list(range(TARGETS))),
    ("cat", list(range(0, TARGETS, 2))),
    ("[7, 2, 30]", [7, 2, 30]),
])  # fmt: skip
def test_which_targets_it_has(source, tmp_path, wanted, targets):
    """With fit.targets = "needed" they all get datamodels, beside those of the design."""
    made = pipeline(source, tmp_path, f"atlas.targets={wanted}")
    summary = made.run("atlas").summary
    assert summary["targets"] == targets
    (path,) = tmp_path.glob("fit/*/datamodel.npz")
    with np.load(path) as fit:
        assert sorted(fit["targets"].tolist()) == sorted({*DOGS, *targets})


def test_a_list_is_in_its_own_order(source, tmp_path, atlas):
    some = atlas_of(source, tmp_path, "atlas.targets=[7, 2, 30]")
    for place, target in enumerate((7, 2, 30)):
        np.testing.assert_array_equal(some.of_target(place), atlas.of_target(target))


def test_the_needed_targets_follow_the_design(source, tmp_path):
    (tmp_path / "pairs.csv").write_text("i,j,target\n1,2,3\n1,2,cat:5\n")
    listed = ("test.repeats=20", "test.design=list", f"test.file={tmp_path / 'pairs.csv'}")
    assert pipeline(source, tmp_path, *listed).run("atlas").summary["targets"] == [3, 10]
    chosen = ("test.repeats=20", "test.design=top", "test.targets=[4, 1]")
    assert pipeline(source, tmp_path, *chosen).run("atlas").summary["targets"] == [4, 1]


def test_the_fit_runs_again_only_where_it_must(source, tmp_path):
    def fit_state(*more):
        lines = []
        pipeline(source, tmp_path, *more, lines=lines).run("fit")
        return states(lines)["fit"]

    assert fit_state() == "running"
    assert fit_state("atlas.family=all") == "cached"
    assert fit_state(ALL) == "running"
    assert fit_state(ALL, "atlas.family=all") == "cached"
    assert fit_state("fit.targets=all") == "running"
    assert fit_state("fit.targets=all", ALL) == "cached"
    assert fit_state("fit.targets=all", "atlas.targets=[3]") == "cached"


def test_changing_the_targets_makes_another_atlas_and_no_test(source, tmp_path):
    pipeline(source, tmp_path, "fit.targets=all").run("influence")
    lines = []
    pipeline(source, tmp_path, "fit.targets=all", "atlas.targets=cat", lines=lines).run("influence")
    assert states(lines) == {"download": "cached", "fit": "cached", "atlas": "running", "influence": "running"}


@pytest.mark.parametrize(("wanted", "number"), [("[3, 5, 8]", 8), ("cat", 0)])
def test_a_target_without_a_datamodel_is_refused(source, tmp_path, wanted, number):
    made = pipeline(source, tmp_path, "fit.targets=[1, 3, 5]", f"atlas.targets={wanted}")
    with pytest.raises(BadInputError, match=f"^target {number} is to be in the atlas but has no datamodel; add it"):
        made.run("atlas")


@pytest.mark.parametrize(("wanted", "count"), [("needed", 20), ("all", 40), ("dog", 20)])
def test_of_many_targets_those_with_a_datamodel_are_taken(source, tmp_path, wanted, count):
    """As the design does, which draws its pairs for those alone."""
    lines = []
    made = pipeline(source, tmp_path, "fit.targets=[5, 1, 3]", f"atlas.targets={wanted}", lines=lines)
    assert made.run("atlas").summary["targets"] == [1, 3, 5]
    said = f"the atlas leaves out {count - 3} of {count} targets, which have no datamodel: fit.targets"
    assert said in [line.strip() for line in lines]


@pytest.mark.parametrize(("setting", "sentence"), [
    ("atlas.targets=7", 'it must be "needed", "all", the name of a class in quotes, or a list'),
    ("atlas.targets=[1, 1]", "a list of different whole numbers"),
    ("atlas.targets=yak", "atlas.targets = 'yak' is no class of this data; there are cat, dog"),
    ("atlas.targets=[40]", "atlas.targets must be different numbers from 0 to 39"),
    ("atlas.family=image", "'target' or 'all'"),
])  # fmt: skip
def test_bad_input_is_one_sentence(source, tmp_path, setting, sentence):
    with pytest.raises(BadInputError) as refused:
        pipeline(source, tmp_path, setting).run("atlas")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_stratified_masks_have_no_atlas_unless_the_user_answers(tmp_path):
    make(tmp_path / "masks", "stratified")
    common = ["source.kind=files", f"source.folder={tmp_path / 'masks'}", f"source.fit_rows={FIT_ROWS}",
              f"source.labels={tmp_path / 'masks' / 'labels.npz'}", f"source.held_out_rows={HELD_OUT}",
              "fit.targets=[0, 1]", "fit.n_lambdas=3", "test.target_class=a", "test.repeats=1",
              "atlas.targets=[0, 1]"]  # fmt: skip
    answered = load_config("digits", [*common, "test.allow_unexchangeable=true"])
    result = Pipeline(answered, tmp_path / "store", tmp_path, quiet=True).run("influence")
    assert result.summary["n_targets"] == 2
    lines = []
    plain = Pipeline(load_config("digits", common), tmp_path / "store", tmp_path, quiet=True, say=lines.append)
    assert plain.run("influence").summary["n_targets"] == 0  # Not what the user answered for before.
    assert any("the masks are stratified by class" in line and "an empty atlas" in line for line in lines)
    with pytest.raises(BadInputError, match="the atlas is empty: the masks are stratified by class"):
        Estimated.of(plain, "run")


def test_threads_and_the_size_of_tiles_change_no_number(source, tmp_path, atlas, monkeypatch):
    monkeypatch.undo()  # One large tile.
    one = atlas_of(source, tmp_path / "one", ALL, threads=1)
    two = atlas_of(source, tmp_path / "two", ALL, threads=2)
    assert tiles_of(one.folder) == tiles_of(two.folder)
    assert list(tiles_of(one.folder)) == ["tails-000000.npy", "tile-000000.npy"]
    for place in range(TARGETS):
        np.testing.assert_array_equal(one.of_target(place), atlas.of_target(place))


@pytest.fixture
def killed(source, tmp_path):
    """A store in which a real run was killed after the first of three tiles."""
    code = SMALL_TILES + SLOW + MAIN
    command = [sys.executable, "-c", code, "run", *words(source, ALL), "--store", "store"]
    killed_when(command, tmp_path, "store/atlas/.work-*/tile-000000.npy")
    assert not list(tmp_path.glob("store/atlas/.work-*/tile-000016.npy"))
    return tmp_path / "store"


def test_a_killed_run_goes_on_at_its_tile_and_ends_with_the_same_bytes(killed, source, atlas):
    (first,) = killed.glob("atlas/.work-*/tile-000000.npy")
    number = first.stat().st_ino
    done = subprocess.run(
        [sys.executable, "-c", SMALL_TILES + MAIN, "run", *words(source, ALL), "--store", "store"],
        cwd=killed.parent, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "going on with an atlas that was stopped: 1 of 3 tiles are done" in done.stdout
    (folder,) = (path.parent for path in killed.glob("atlas/*/manifest.json"))
    assert (folder / "tile-000000.npy").stat().st_ino == number  # It was not made again.
    assert tiles_of(folder) == tiles_of(atlas.folder)
    names = [f"{name}-{first:06d}.npy" for name in ("tails", "tile") for first in (0, 16, 32)]
    assert list(tiles_of(folder)) == names
    assert not list(killed.glob("atlas/.*"))


@pytest.mark.parametrize("harm", ("changed", "shorter", "no checksum"))
def test_a_damaged_tile_of_a_killed_run_is_named_and_made_again(killed, source, small_tiles, atlas, harm):
    (path,) = killed.glob("atlas/.work-*/tile-000000.npy")
    content = bytearray(path.read_bytes())
    if harm == "changed":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif harm == "shorter":
        path.write_bytes(content[:-100])
    else:
        path.with_suffix(".sha256").unlink()
    lines = []
    made = atlas_of(source, killed, ALL, lines=lines)
    assert any(f"{path} is damaged (its checksum is another one)" in line for line in lines)
    assert tiles_of(made.folder) == tiles_of(atlas.folder)


def test_a_damaged_tile_in_the_store_is_noticed_and_made_again(source, small_tiles, tmp_path, atlas):
    path = atlas_of(source, tmp_path, ALL).folder / "tile-000016.npy"
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    lines = []
    made = atlas_of(source, tmp_path, ALL, lines=lines)
    assert any(f"{path} is damaged: its checksum has changed" in line for line in lines)
    assert tiles_of(made.folder) == tiles_of(atlas.folder)


def test_where_every_model_tests_each_block_has_its_own_datamodel(source, tmp_path):
    rows = ("fit.mode=lasso", "test.rows=progressive", "source.first_rows=60", "test.blocks=3")
    made = pipeline(source, tmp_path, *rows, "atlas.targets=[7]")
    atlas = Atlas.of(made.run("atlas"))
    folder = made.run("fit").folder
    masks = np.load(source / "data" / "train_masks_50pct.npy")
    y = np.load(source / "data" / "test_margins_50pct.npy")[:, 7].astype(float)
    bounds = [*block_ends(len(y), 60, 3), len(y)]
    blocks = []
    for (a, b), path in zip(itertools.pairwise(bounds), datamodel_files(folder, 3), strict=True):
        with np.load(path) as fit:
            place = fit["targets"].tolist().index(7)
            blocks.append(block_target(masks[a:b], y[a:b], fit["weight"][:, place], float(fit["bias"][place])))
    tested = PackedMasks.from_bool(masks[60:])
    margins, theta = pooled_target(tested, blocks)
    expected = influence(tested, margins, theta=theta)
    for found, wanted in zip(atlas.of_target(0), (expected.estimate, expected.standard_error), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
