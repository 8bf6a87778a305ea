"""What a summary is: figures that a stage writes into its manifest, and that later stages and commands read back.

What a stage does not say is left out of the manifest, and is the default when it is read back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import BadInputError
from pipeline.store.cache import Result


class Facts(BaseModel):
    """What goes into a manifest as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return self.model_dump(mode="json", exclude_unset=True)


class Summary(Facts, ABC):
    """What one stage says of its result."""

    @abstractmethod
    def describe(self) -> str:
        """A few words for the line that a run prints."""


S = TypeVar("S", bound=Summary)


def read_summary(result: Result, kind: type[S]) -> S:
    """What a stage said of its result, from its manifest."""
    try:
        return kind.model_validate(result.summary)
    except ValidationError as error:
        raise BadInputError(
            f"{result.folder / 'manifest.json'} does not say what it should; remove this folder and run again."
        ) from error
