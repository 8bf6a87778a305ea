"""The section `[verify]`: what is held against models that are trained anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from datamodels_inf.methods import METHODS
from pipeline.settings.base import Count, Number, Section

if TYPE_CHECKING:
    Method: TypeAlias = str
else:
    Method = Literal[tuple(METHODS)]


class Verify(Section):
    """What is held against models that are trained anew; nothing unless something is named."""

    top: Number = 0
    """So many of the first findings are held against fresh models; 0: none."""
    findings: tuple[Count, ...] = ()
    """These findings instead, by their numbers on the page, from 1."""
    pair: tuple[Annotated[int | str, Field(union_mode="left_to_right")], ...] = ()
    """Two training images instead, on `target`."""
    target: Number | None = None
    """The target of `pair`."""
    method: Method | None = None
    """The test whose findings these are. Unset: the first of test.method."""
    models: Annotated[int, Field(ge=4, le=10_000_000, strict=True)] = 1000
    """Fresh models of each pair: half with i in and j out, half the other way round."""
    fresh: Annotated[int, Field(ge=0, le=10_000_000, strict=True)] = 0
    """Models on fresh masks that all findings, as many other pairs and the atlas are held against; 0: none."""
    seed: Number = 0
    """The seed of the masks and the training of fresh models."""

    @property
    def wanted(self) -> bool:
        """Whether any finding or pair is named."""
        return bool(self.top or self.findings or self.pair)

    @model_validator(mode="after")
    def _one_question(self) -> Verify:
        if sum(map(bool, (self.top, self.findings, self.pair))) > 1:
            raise ValueError("only one of verify.top, verify.findings and verify.pair may be given")
        if self.pair and (len(self.pair) != 2 or len(set(self.pair)) != 2 or self.target is None):
            raise ValueError("verify.pair must be two different images, with verify.target")
        if self.target is not None and not self.pair:
            raise ValueError("verify.target is for verify.pair")
        return self
