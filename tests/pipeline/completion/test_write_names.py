"""From the types of settings to the values that are offered, and all settings and tables of the command line."""

import json
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.completion.known_names import PATH
from pipeline.completion.write_names import made, values_of
from pipeline.config import Config
from pipeline.stages import STAGES


@pytest.mark.parametrize(("annotation", "values"), [
    (Literal["a", "b"], ["a", "b"]),
    (Literal[10, 20], ["10", "20"]),
    (Literal["a"] | None, ["a"]),
    (list[Literal["a", "b"]], ["a", "b"]),
    (Annotated[list[Literal["a"]], Field(min_length=1)], ["a"]),
    (bool, ["true", "false"]),
    (bool | None, ["true", "false"]),
    (Path | None, PATH),
    (float, []),
    (list[int | str], []),
    (dict[str, int], []),
])  # fmt: skip
def test_values_of_types(annotation, values):
    assert values_of(annotation) == values


def test_all_settings_and_tables_are_there():
    known = json.loads(made())
    sections = Config().model_dump()
    assert set(known["settings"]) == {f"{section}.{key}" for section, keys in sections.items() for key in keys}
    assert known["settings"]["test.method"] == known["tables"]["methods"] == list(METHODS)
    assert known["settings"]["test.correction"] == list(CORRECTIONS)
    assert set(known["tables"]["stages of report"]) | {"referee", "referee-page"} == set(STAGES)
    assert "" not in known["tables"]
