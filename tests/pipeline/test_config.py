"""The models of a configuration: defaults, and a sentence for every setting that is wrong."""

import pytest

from datamodels_inf.designs import DESIGNS
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.config import Config
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.sources import SOURCES


def listed(table):
    """ "'a', 'b' or 'c'", as pydantic says it."""
    *names, last = map(repr, table)
    return f"{', '.join(names)} or {last}"


def test_the_default_is_the_papers_design():
    test = load_config("digits", []).test
    assert (test.design, test.repeats, test.method, test.alpha, test.tau) == ("paper", 20, ["swap"], 0.2, 0.0)
    assert load_config("cifar10", []).source.held_out_rows == 10_000


@pytest.mark.parametrize(("override", "parts"), [
    ("test.alfa=0.1", ["test.alfa is not a setting", "alpha", "design"]),
    ("tests.alpha=0.1", ["tests is not a setting", "atlas, robustness, verify, referee, report"]),
    ("test.alpha=2", ["test.alpha = 2", "less than 1"]),
    ("test.alpha=often", ["test.alpha = 'often'", "valid number"]),
    ("test.method=magic", ["test.method.0 = 'magic'", listed(METHODS)]),
    ("test.method=[]", ["test.method", "at least 1 item"]),
    ("test.method=[\"swap\",\"swap\"]", ["must not name a method twice"]),
    ("test.correction=none", ["test.correction = 'none'", listed(CORRECTIONS)]),
    ("test.repeats=0", ["test.repeats = 0", "greater than or equal to 1"]),
    ("test.tau=-1", ["test.tau = -1"]),
    ("source.kind=web", ["source.kind = 'web'", listed(SOURCES)]),
    ("source.kind=files", ["source.folder must name a folder"]),
    ("fit.mode=load", ["fit.file must name"]),
    ("fit.targets=7", ["fit.targets = 7", "a list of different whole numbers"]),
    ("fit.targets=[1,-2]", ["fit.targets = [1, -2]"]),
    ("test.repeats=true", ["test.repeats = True", "valid integer"]),
    ("source.images=x.npz", ["source.images is not for source.set 'digits', which has its own"]),
    ("source.folder=x", ["source.folder is not for source.kind 'embedded', which has its own"]),
    ("source.set=mnist", ["source.set = 'mnist'", "'digits' or 'cifar10-study'"]),
    ("source.kind=http", ["source.masks_url and source.margins_url must be given"]),
    ("source.masks_sha256=abc", ["source.masks_sha256 = 'abc'"]),
    ("report.name=../escape", ["report.name = '../escape'"]),
    ("test.design=all", ["test.design = 'all'", listed(DESIGNS)]),
    ("test.k=4", ["test.k is for test.design 'top', but test.design is 'paper'"]),
    ("test.targets=all", ["test.targets is for test.design 'top' or 'grid', but test.design is 'paper'"]),
    ("test.file=x.csv", ["test.file is for test.design 'list', but test.design is 'paper'"]),
    ("test.images=[1,2]", ["test.images is for test.design 'grid', but test.design is 'paper'"]),
    ("test.design=list", ["test.file must name a CSV file of i, j, target"]),
    ("test.design=grid", ["test.images must list at least two images"]),
    ("alpha=0.1", ["section.key=value"]),
    ("test.alpha", ["section.key=value"]),
])  # fmt: skip
def test_bad_settings_are_refused_by_name(override, parts):
    with pytest.raises(BadInputError) as caught:
        load_config("digits", [override])
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("overrides", "part"), [
    (["test.design=top", "test.repeats=3"], "test.repeats is for test.design 'paper' or 'paper-unordered'"),
    (["test.design=top", "test.targets=5"], "test.targets = 5: it must be \"class\", \"all\", the name of a class"),
    (["test.design=top", "test.targets=[1,1]"], "a list of different whole numbers"),
    (["test.design=top", "test.versus=foes"], "'hurters', 'helpers' or 'random'"),
    (["test.design=top", "test.versus=['random','random']"], "test.versus must not name a comparison twice"),
    (["test.design=top", "test.versus=helpers", "test.k=1"], "test.k must be at least 2"),
    (["test.design=grid", "test.images=[1,' ']"], "or of texts such as \"dog:12\""),
    (["test.design=grid", "test.images=[1,true]"], "or of texts such as \"dog:12\""),
    (["test.design=grid", "test.images=[1,-2]"], "or of texts such as \"dog:12\""),
])  # fmt: skip
def test_settings_of_designs_are_checked_together(overrides, part):
    with pytest.raises(BadInputError) as caught:
        load_config("digits", overrides)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_images_of_a_grid_may_be_numbers_or_class_and_position():
    test = load_config("digits", ["test.design=grid", "test.images=[7, '3:12']", "test.targets=[0]"]).test
    assert (test.images, test.targets) == ([7, "3:12"], [0])


def test_contrast_needs_tau_zero():
    with pytest.raises(BadInputError, match=r"'contrast' needs test\.tau = 0"):
        load_config("digits", ["test.method=contrast", "test.tau=0.1"])


def test_defaults_are_the_digits_config_without_its_split_and_its_atlas():
    """The split of the digits is written down; where none is, the rule divides the rows."""
    digits = load_config("digits", [])
    others = {"report": True, "atlas": True, "source": {"fit_rows", "held_out_rows"}}
    assert (digits.source.fit_rows, digits.source.held_out_rows) == (8000, 4000)
    assert Config().source.fit_rows is Config().source.held_out_rows is None
    assert digits.model_dump(exclude=others) == Config().model_dump(exclude=others)
    assert digits.atlas.wanted and not Config().atlas.wanted
