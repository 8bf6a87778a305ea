"""What the stages fresh and agreement say of their results."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from datamodels_inf.replication import Replication
from pipeline.summaries.base import Summary
from pipeline.text.numbers import counted


class FreshSummary(Summary):
    """Models on fresh masks, and the seed that made both."""

    n_models: int
    n_train: int
    n_targets: int
    seed: int

    def describe(self) -> str:
        """How many models and targets."""
        return f"{self.n_models:,} fresh models, {counted(self.n_targets, 'target')}"


class HeldFamily(BaseModel):
    """The tests of a method, or the atlas: n_found of n_tests are findings. findings, others: of those compared."""

    n_tests: int
    n_found: int
    findings: Replication | None
    others: Replication | None


class FreshAgreementSummary(Summary):
    """methods: by name. atlas: None where there is none. n_splits: how often the fresh models were halved."""

    n_models: int
    n_splits: int
    methods: Mapping[str, HeldFamily]
    atlas: HeldFamily | None = None

    @property
    def families(self) -> dict[str, HeldFamily]:
        """The methods, and then the atlas."""
        return {**self.methods, **({} if self.atlas is None else {"atlas": self.atlas})}

    @property
    def sampled(self) -> str:
        """Families of which not all findings were compared, in words; empty where there is none."""
        compared = {name: 0 if one.findings is None else one.findings.n for name, one in self.families.items()}
        partly = [
            f"{name}: {compared[name]:,} of {counted(family.n_found, 'finding')} are compared"
            for name, family in self.families.items()
            if family.n_found > compared[name]
        ]
        return "" if not partly else f"{'; '.join(partly)}."

    def describe(self) -> str:
        """Of each family, the share of findings whose sign the fresh models share."""
        known = {name: family.findings for name, family in self.families.items()}
        words = ["no finding" if one is None else f"{100.0 * one.same_sign:.1f} % same sign" for one in known.values()]
        return ", ".join(f"{name} {text}" for name, text in zip(known, words, strict=True))
