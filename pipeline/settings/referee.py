"""The section `[referee]`: whose claims are held against held-out models."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from datamodels_inf.refereeing.verdicts import WITHOUT_PRIOR
from pipeline.settings.base import Count, Fraction, Number, Section, as_list, expanded

if TYPE_CHECKING:
    WithoutPrior: TypeAlias = str
else:
    WithoutPrior = Literal[WITHOUT_PRIOR]

LASSO = "lasso"
"""Among the scores: the configuration's own datamodel."""
NAME = re.compile(r"[\w.+-][\w .+-]{0,39}")


@dataclass(frozen=True)
class ScoreName:
    """What a method is called, and its file; None for the configuration's own datamodel."""

    name: str
    path: Path | None

    @classmethod
    def of(cls, text: str) -> ScoreName:
        """ "lasso", "trak=scores/mine.mmap", or "scores/mine.mmap", which is then called by its file: mine."""
        if text == LASSO:
            return cls(LASSO, None)
        name, equals, path = text.partition("=")
        whole = expanded(Path(text))
        return cls(name, expanded(Path(path))) if equals and not whole.is_file() else cls(whole.stem, whole)


Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Referee(Section):
    """Whose claims are held against held-out models, by the command `referee`."""

    scores: Texts = ()
    """Score files as "name=path" or "path", and "lasso" for the configuration's own datamodel; none: no referee."""
    k: Annotated[int, Field(ge=1, le=1000, strict=True)] = 5
    """Claims of each method: so many helpers and hurters of each target."""
    alpha: Fraction = 0.1
    """The false discovery rate of verdicts; the claims of each method are one family."""
    correction: WithoutPrior = "by"
    """As test.correction, without "prior"."""
    seed: Number = 0
    """The seed of random images and resamples."""
    unseen: bool = False
    """You say that no tested model was used to make the scores."""
    negate: Texts = ()
    """Methods, by name, whose positive scores mean that an image hurts."""
    resamples: Annotated[Count, Field(ge=500, le=100_000)] = 1000
    """Resamples of the intervals of LDS and R²."""

    @property
    def wanted(self) -> bool:
        """Whether any method is named."""
        return bool(self.scores)

    @property
    def methods(self) -> list[ScoreName]:
        """In the order in which they are named."""
        return [ScoreName.of(text) for text in self.scores]

    @model_validator(mode="after")
    def _names_are_clear(self) -> Referee:
        names = [method.name for method in self.methods]
        for name in names:
            if not NAME.fullmatch(name):
                raise ValueError(
                    f"referee.scores: {name!r} is no name for a method; give one of letters, digits, blanks and . + - "
                    "as NAME=PATH"
                )
            if names.count(name) > 1:
                raise ValueError(f"referee.scores: two methods are called {name!r}; give names as NAME=PATH")
        for name in self.negate:
            if name not in names and self.scores:
                raise ValueError(f"referee.negate: {name!r} is none of the methods, {', '.join(names)}")
        return self
