"""The section `[verify]`: what is held against models that are trained anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from datamodels_inf.methods import METHODS
from pipeline.section import Count, Number, Section

if TYPE_CHECKING:
    Method: TypeAlias = str
else:
    Method = Literal[tuple(METHODS)]


class Verify(Section):
    """Findings by number or the first `top`, or a pair on a target: their two images are forced in and out of `models`
    fresh models. fresh: so many models on fresh masks are what all findings, as many others and the atlas are held
    against.
    """

    top: Number = 0
    findings: tuple[Count, ...] = ()
    pair: tuple[Annotated[int | str, Field(union_mode="left_to_right")], ...] = ()
    target: Number | None = None
    method: Method | None = None
    models: Annotated[int, Field(ge=4, le=10_000_000, strict=True)] = 1000
    fresh: Annotated[int, Field(ge=0, le=10_000_000, strict=True)] = 0
    seed: Number = 0

    @property
    def wanted(self) -> bool:
        """Whether any finding or pair is named."""
        return bool(self.top or self.findings or self.pair)

    @model_validator(mode="after")
    def _one_question(self) -> Verify:
        if sum(map(bool, (self.top, self.findings, self.pair))) > 1:
            raise ValueError("only one of verify.top, verify.findings and verify.pair may be given")
        if self.pair and (len(self.pair) != 2 or self.target is None):
            raise ValueError("verify.pair must be two images, with verify.target")
        if self.target is not None and not self.pair:
            raise ValueError("verify.target is for verify.pair")
        return self
