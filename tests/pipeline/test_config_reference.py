"""Every setting in words: docs/configuration.md is up to date, and what it says of values is what the models do."""

import re
import tomllib

import pytest
from places import ROOT
from pydantic import BaseModel, ValidationError

from pipeline.config import Config
from pipeline.config_reference import EXAMPLES, explain, reference, settings
from pipeline.errors import BadInputError

PAGE = ROOT / "docs" / "configuration.md"
ALL = [setting for section in settings().values() for setting in section]


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "run: datamodels-inf config reference > docs/configuration.md"
    )


def test_every_key_of_every_section_is_there():
    fields = {name: field.annotation for name, field in Config.model_fields.items()}
    assert all(issubclass(section, BaseModel) for section in fields.values())
    keys = [f"{name}.{key}" for name, section in fields.items() for key in section.model_fields]
    assert sorted(setting.key for setting in ALL) == sorted(keys)


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.key)
def test_a_setting_says_what_it_means_in_a_sentence(setting):
    assert re.fullmatch(r"[A-Zp\d].{8,}\.", setting.meaning), setting.meaning


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_section_is_a_configuration(name):
    example = tomllib.loads(f"[{name}]\n{EXAMPLES[name][0]}")
    assert example[name]
    Config.model_validate(example)


def test_pages_that_say_more_are_there():
    for _, *pages in EXAMPLES.values():
        assert pages
        for page in pages:
            assert (ROOT / "docs" / page.partition("#")[0]).is_file()


@pytest.mark.parametrize(
    ("key", "allowed", "default"),
    [
        ("test.alpha", "number, above 0 and below 1", "0.2"),
        ("test.method", 'one or several of "swap", "swap-exact", "paired" or "contrast"', '["swap"]'),
        ("test.blocks", "whole number, at least 1 and at most 10,000", ""),
        ("test.images", "list of whole numbers or texts", ""),
        ("test.seed", "whole number, at least 0", "0"),
        ("source.percent", "10, 20, 50 or 75", "50"),
        ("source.masks_sha256", "text of 64 hexadecimal digits", ""),
        ("fit.file", "path", ""),
        ("fit.lambda_ratio", "number, above 0 and at most 1", "0.001"),
        ("atlas.targets", "text or list of whole numbers", ""),
        ("cluster.slurm", "table", ""),
        ("referee.resamples", "whole number, at least 500 and at most 100,000", "1000"),
    ],
)
def test_values_in_words(key, allowed, default):
    (setting,) = [setting for setting in ALL if setting.key == key]
    assert (setting.allowed, setting.default) == (allowed, default)


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.key)
def test_what_lies_outside_of_the_bounds_is_refused(setting):
    """The words are read back, and the models asked."""
    for word, bound in re.findall(r"(at least|above|at most|below) ([\d.,e-]*[\d])", setting.allowed):
        value = float(bound.replace(",", ""))
        step = {"at least": -1, "above": 0, "at most": 1, "below": 0}[word]
        outside = int(value) + step if "whole" in setting.allowed else value + step
        outside = [outside] if "list" in setting.allowed else outside
        outside = "x" * int(value + 1) if "characters" in setting.allowed else outside
        with pytest.raises(ValidationError, match=rf"{setting.section}\.{setting.name}"):
            Config.model_validate({setting.section: {setting.name: outside}})


def test_one_setting_is_explained():
    assert explain("test.blocks") == (
        "test.blocks\n    whole number, at least 1 and at most 10,000; unset by default\n"
        '    With rows "progressive": how many blocks. Unset: up to 8, by the rule.'
    )


def test_a_section_is_explained_key_by_key():
    said = explain("atlas")
    assert [line for line in said.splitlines() if line and not line.startswith(" ")] == [
        "atlas.targets",
        "atlas.family",
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("alpha", "did you mean test.alpha or referee.alpha?"),
        ("test.alhpa", "did you mean test.alpha"),
        ("nonsense", "sections are source, fit, test, "),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(name, hint):
    with pytest.raises(BadInputError, match=rf"{name} is neither a setting nor a section; {re.escape(hint)}"):
        explain(name)
