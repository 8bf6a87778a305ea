"""A small set that `train` made, a design with a pair on two targets, one turned, and groups; and claims, made up."""

import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory

from command_here import ok

from datamodels_inf.counterfactual import Retrained
from pipeline.config_files import load_config
from pipeline.run import Pipeline
from pipeline.stages.base import Run
from pipeline.stages.verify.claims import claims_of
from pipeline.verified import Claim, Verified

ANYWHERE = ("--train", 40, "--targets", 20, "--models", 1100, "--steps", 5, "--hidden", 4, "--quiet")
TINY = (*ANYWHERE, "--workers", 1)
DESIGN = "i,j,target\n3,9,1\n9,3,4\n5,6,2\n3 7,12 20,1\n11,30,8\n"
SETTINGS = (
    "source.kind=files", "source.fit_rows=600", "source.held_out_rows=500", "fit.n_lambdas=10", "test.design=list",
    "test.target_class=", "test.repeats=", "test.alpha=0.99", "test.correction=bh", "test.method=contrast",
    "atlas.targets=",
)  # fmt: skip


def make_set(folder, *options):
    """The set in folder/set, and the design beside it."""
    ok(folder, "train", "--out", "set", *TINY, *options)
    (folder / "pairs.csv").write_text(DESIGN, encoding="utf-8")
    return folder


def settings(folder):
    """With which a configuration tests the design."""
    return [*SETTINGS, f"source.folder={folder / 'set'}", f"test.file={folder / 'pairs.csv'}"]


def verify(folder, *extra, store="store", **options):
    """The result of the verify stage."""
    config = load_config("digits", [*settings(folder), "verify.models=8", *extra])
    return Pipeline(config, folder / store, folder / "reports", quiet=True, **options).run("verify")


def claims(folder, *extra):
    """What the verify stage would verify, without training anything."""
    pipeline = Pipeline(load_config("digits", [*settings(folder), *extra]), folder / "store", folder, quiet=True)
    pipeline.run("test")
    inputs = pipeline.finished(("download", "fit", "test"), "")
    with TemporaryDirectory() as unfinished:
        steps = Path(unfinished)
        run = Run(pipeline.config, inputs, steps, steps, folder / "store", 1, True, print, bool, False, "")
        return claims_of(run)


def make_claim(**changes):
    claim = Claim(
        finding=3, method="paired", members_i=(1,), members_j=(2,), target=5, class_i="dog", class_j="truck",
        class_target="cat", effect=0.4, effect_se=0.1, effect_low=0.2, effect_high=0.6, effect_low_selected=0.1,
        effect_high_selected=0.7,
    )  # fmt: skip
    return dataclasses.replace(claim, **changes)


def make_verified(found, error=0.1, n=50, **changes):
    """A claim beside fresh models with this estimate."""
    fresh = Retrained(found, error, found - 2 * error, found + 2 * error, n, 0.95)
    return Verified.of(make_claim(**changes), fresh)
