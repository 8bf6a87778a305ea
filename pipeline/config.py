"""The models of a configuration: what settings there are and which values they may have (read by `config_files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from datamodels_inf.designs import DESIGNS
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.places.settings import ClusterSettings
from pipeline.referee_settings import Referee
from pipeline.report_name import LONGEST_NAME
from pipeline.section import Count, Few, FilePath, Fraction, Number, Section
from pipeline.sources import SOURCES
from pipeline.text.nouns import worded
from pipeline.training.settings import Train
from pipeline.verify_settings import Verify

if TYPE_CHECKING:
    Method: TypeAlias = str
    CorrectionName: TypeAlias = str
    DesignName: TypeAlias = str
    SourceName: TypeAlias = str
else:
    Method = Literal[tuple(METHODS)]
    CorrectionName = Literal[tuple(CORRECTIONS)]
    DesignName = Literal[tuple(DESIGNS)]
    SourceName = Literal[tuple(SOURCES)]
Versus: TypeAlias = Literal["hurters", "helpers", "random"]
Digest: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _check_targets(key: str, word: str) -> BeforeValidator:
    """Refused here, with the key's own name: a union of types would answer for each of them."""

    def check(value: Any) -> Any:
        numbers = isinstance(value, list) and value and all(type(v) is int and 0 <= v < 2**31 for v in value)
        if not (isinstance(value, str) and value) and not (numbers and len(set(value)) == len(value)):
            raise ValueError(
                f'{key} = {value!r}: it must be "{word}", "all", the name of a class in quotes, '
                "or a list of different whole numbers from 0"
            )
        return value

    return BeforeValidator(check)


def _check_images(key: str) -> BeforeValidator:
    """Numbers, names, or class and position; whether there is such an image, the data must say."""

    def check(value: Any) -> Any:
        items = value if isinstance(value, list) else [value]
        if not all(item.strip() if isinstance(item, str) else type(item) is int and item >= 0 for item in items):
            raise ValueError(
                f'{key} = {value!r}: it must be a list of whole numbers from 0, or of texts such as "dog:12" for '
                "image 12 of class dog, from 0, or of names of images"
            )
        return items

    return BeforeValidator(check)


class Source(Section):
    """Where masks, margins and images come from, and which rows are for the fit and which for the test."""

    kind: SourceName = "embedded"
    set: Literal["digits", "cifar10-study"] = "digits"
    folder: FilePath | None = None
    percent: Literal[10, 20, 50, 75] = 50
    bucket: str = "madrylab-datamodels"
    prefix: str = "cifar"
    endpoint_url: str | None = None
    region: str | None = None
    masks_url: str | None = None
    margins_url: str | None = None
    weights_url: str | None = None
    masks_sha256: Digest | None = None
    margins_sha256: Digest | None = None
    weights_sha256: Digest | None = None
    images: FilePath | None = None
    labels: FilePath | None = None
    mirrors: list[str] = []
    group_by_mask: bool = False
    fit_rows: Count | None = None
    held_out_rows: Annotated[int, Field(ge=3, strict=True)] | None = None
    first_rows: Annotated[int, Field(ge=3, strict=True)] | None = None

    @model_validator(mode="after")
    def _place_is_given(self) -> Source:
        problem = SOURCES[self.kind].problem(self)
        if problem:
            raise ValueError(problem)
        return self


class Fit(Section):
    """How datamodels are fitted, or which file of weights is loaded."""

    mode: Literal["lasso", "load"] = "lasso"
    file: FilePath | None = None
    calibrate: bool = False
    targets: Annotated[str | list[int], _check_targets("fit.targets", "needed")] = "needed"
    n_lambdas: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 100
    lambda_ratio: Annotated[float, Field(gt=0, le=1)] = 0.001
    validation_rows: Count | None = None
    patience: Count = 3
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    memory_gb: Annotated[float, Field(gt=0, le=1e6)] = 7.0

    @model_validator(mode="after")
    def _calibrate_what_is_loaded(self) -> Fit:
        if self.calibrate and self.mode != "load":
            raise ValueError("fit.calibrate is for scores from a file: it needs fit.mode = 'load'")
        return self

    @property
    def needs_rows(self) -> bool:
        """Whether the fit rows are used at all."""
        return self.mode == "lasso" or self.calibrate


class Test(Section):
    """Which pairs are tested, how, and when a p-value is a finding."""

    __test__ = False  # Not a test case of pytest's.

    design: DesignName = "paper"
    target_class: str = "3"
    repeats: Few = 20
    targets: Annotated[str | list[int], _check_targets("test.targets", "class")] = "class"
    k: Few = 5
    versus: Annotated[list[Versus], BeforeValidator(_as_list), Field(min_length=1)] = ["hurters", "helpers", "random"]
    random_partners: Few = 5
    file: FilePath | None = None
    images: Annotated[list[int | str], _check_images("test.images")] = []
    seed: Number = 0
    rows: Literal["held-out", "progressive"] = "held-out"
    blocks: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    method: Annotated[list[Method], BeforeValidator(_as_list), Field(min_length=1)] = ["swap"]
    tau: Annotated[float, Field(ge=0, lt=1)] = 0.0
    order: Literal["permuted", "given"] = "permuted"
    alpha: Fraction = 0.2
    correction: CorrectionName = "by"
    allow_unexchangeable: bool = False
    chunk_pairs: Count = 20_000

    @property
    def progressive(self) -> bool:
        """Whether every row but the first is tested, each with the fit of the rows before its block."""
        return self.rows == "progressive"

    @model_validator(mode="after")
    def _design_is_whole(self) -> Test:
        for name in dict.fromkeys(name for design in DESIGNS.values() for name in design.settings):
            designs = [design.name for design in DESIGNS.values() if name in design.settings]
            given = getattr(self, name) != type(self).model_fields[name].default
            if given and self.design not in designs:
                allowed = " or ".join(f"'{design}'" for design in designs)
                raise ValueError(f"test.{name} is for test.design {allowed}, but test.design is '{self.design}'")
        design = DESIGNS[self.design]
        problem = design.problem({name: getattr(self, name) for name in design.settings})
        if problem:
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _blocks_are_progressive(self) -> Test:
        if self.blocks is not None and not self.progressive:
            raise ValueError("test.blocks is for test.rows 'progressive'")
        return self

    @model_validator(mode="after")
    def _methods_fit(self) -> Test:
        if len(set(self.method)) < len(self.method):
            raise ValueError("test.method must not name a method twice")
        for name in self.method:
            if self.tau > 0 and METHODS[name].needs_tau_zero:
                raise ValueError(f"test.method '{name}' needs test.tau = 0: its test is valid only there")
        return self


class Atlas(Section):
    """Of which targets every training image's influence is estimated, and over what its p-values are corrected.

    The level and the correction are those of `[test]`.
    """

    targets: Annotated[str | list[int], _check_targets("atlas.targets", "needed")] | None = None
    family: Literal["target", "all"] = "target"

    @property
    def wanted(self) -> bool:
        """Whether there is to be one at all."""
        return self.targets is not None


class Robustness(Section):
    """Which findings, or which pair, are tested again with look-alikes of their images; nothing unless one is named."""

    top: Number = 0
    findings: list[Count] = []
    pair: Annotated[list[int | str], _check_images("robustness.pair")] = []
    targets: list[Number] = []
    n_targets: Few = 5
    neighbours: Few = 5
    metric: Literal["pixels", "features", "influence"] = "pixels"
    embeddings: FilePath | None = None
    same_class: bool = True
    method: Method | None = None
    split: bool = False
    seed: Number = 0

    @property
    def wanted(self) -> bool:
        """Whether any finding or pair is named."""
        return bool(self.top or self.findings or self.pair)

    @model_validator(mode="after")
    def _one_question(self) -> Robustness:
        if sum(map(bool, (self.top, self.findings, self.pair))) > 1:
            raise ValueError("only one of robustness.top, robustness.findings and robustness.pair may be given")
        if self.pair and len(self.pair) != 2:
            raise ValueError("robustness.pair must be two images")
        if self.embeddings is not None and self.metric != "features":
            raise ValueError("robustness.embeddings is for robustness.metric 'features'")
        if self.split and self.pair:
            raise ValueError(
                "robustness.split is for findings: the p-values of a pair that you name are valid on all held-out "
                "models if it was chosen before looking at these models"
            )
        for name in ("findings", "targets"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"robustness.{name} must not name one twice")
        return self


TITLE = "Which training images matter more?"


class Report(Section):
    """What the report is called and how much it shows. Without a name, `load_config` gives it one."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=LONGEST_NAME)] = "report"
    title: str = TITLE
    max_panels: Annotated[int, Field(ge=0, le=100_000)] = 50

    def title_of(self, noun: str) -> str:
        """The title of a page about images or items: one that the user gave stays as it is."""
        return worded(TITLE, noun) if self.title == TITLE else self.title


class Config(Section):
    """All sections, any of which may be left out; what concerns two of them is checked here."""

    train: Train = Train()
    source: Source = Source()
    fit: Fit = Fit()
    test: Test = Test()
    atlas: Atlas = Atlas()
    robustness: Robustness = Robustness()
    verify: Verify = Verify()
    referee: Referee = Referee()
    report: Report = Report()
    cluster: ClusterSettings = ClusterSettings()

    @model_validator(mode="after")
    def _weights_are_given(self) -> Config:
        comes_with_source = SOURCES[self.source.kind].brings_weights(self.source)
        if self.fit.mode == "load" and self.fit.file is None and not comes_with_source:
            raise ValueError(
                "fit.file must name a .npy, .npz, .pt or .safetensors file of weights or scores when fit.mode is 'load'"
            )
        if self.source.first_rows is not None and not self.test.progressive:
            raise ValueError("source.first_rows is for test.rows 'progressive'; see source.fit_rows")
        if self.test.progressive and self.fit.mode == "load":
            raise ValueError(
                "test.rows 'progressive' fits a datamodel for each block of rows and needs fit.mode 'lasso': weights "
                "from a file are one datamodel, and may have seen any row"
            )
        again = self.robustness.method
        if again is not None and METHODS[again].needs_tau_zero and self.test.tau > 0:
            raise ValueError(f"robustness.method '{again}' needs test.tau = 0: its test is valid only there")
        held = self.verify.method
        if held is not None and self.verify.wanted and held not in self.test.method:
            run = ", ".join(self.test.method)
            raise ValueError(
                f"verify.method '{held}' was not run, so it has no findings; add it to test.method ({run})"
            )
        return self
