"""What the sections of the configuration are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pipeline.errors import BadInputError
from pipeline.text.own_paths import too_long

LONGEST_NAME, LONGEST_PATH = 255, 4095
"""Bytes. Of what is longer a system does not say that it is not there, but fails."""


def expanded(path: Path) -> Path:
    """With the user's home for a leading ~, as the tool itself writes it: a shell does not behind an equals sign."""
    whole, *parts = (len(text.encode(errors="replace")) for text in (str(path), *path.parts))
    if whole > LONGEST_PATH or max(parts, default=0) > LONGEST_NAME:
        raise BadInputError(too_long(str(path)))
    return Path.home() / Path(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def as_list(value: Any) -> Any:
    """A list where one text stands for a list of one, as it may in a configuration."""
    return [value] if isinstance(value, str) else value


FilePath: TypeAlias = Annotated[Path, AfterValidator(expanded)]
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]
Few: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]
"""Of what is made for each target, or each of which takes memory."""
Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**64, strict=True)]
Fraction: TypeAlias = Annotated[float, Field(gt=0, lt=1)]


class Section(BaseModel):
    """Settings that cannot be changed; an unknown name and numbers that are not finite are refused, and a number may
    stand where a text is wanted."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        coerce_numbers_to_str=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,  # What stands below a setting is its line in docs/configuration.md.
    )
