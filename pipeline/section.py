"""What the sections of the configuration are made of."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Count: TypeAlias = Annotated[int, Field(ge=1, strict=True)]
Number: TypeAlias = Annotated[int, Field(ge=0, strict=True)]
Fraction: TypeAlias = Annotated[float, Field(gt=0, lt=1)]


class Section(BaseModel):
    """Settings that cannot be changed; an unknown name is refused, and a number may stand where a text is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)
