"""`datamodels-inf config`: configurations, as they are and those that ship, and what settings there are."""

from __future__ import annotations

import click

from pipeline.closed_pipe import echo
from pipeline.completion.words import SettingName
from pipeline.help_pages import HelpedGroup
from pipeline.options import config_options, with_options


@click.group(
    cls=HelpedGroup,
    short_help="Configurations that ship, all settings of one, what each means.",
    examples=(
        "datamodels-inf config list",
        "datamodels-inf config show --config digits",
        "datamodels-inf config explain test.alpha",
    ),
)
def config() -> None:
    """Look at configurations: the settings of an analysis (docs/configuration.md)."""


@config.command("list", short_help="Print the configurations that ship.", examples=("datamodels-inf config list",))
def config_list() -> None:
    """Print the configurations that ship, with what each is about.

    A name of this list goes behind --config.
    """
    from pipeline.named_configs import first_comment, named_configs

    for name, path in named_configs().items():
        echo(f"{name:<16} {first_comment(path)}")


@config.command(
    "show",
    short_help="Print all settings of a configuration as TOML.",
    examples=(
        "datamodels-inf config show",
        "datamodels-inf config show --config digits --set test.alpha=0.1 > mine.toml",
    ),
)
@with_options(config_options)
def config_show(config_name: str, overrides: tuple[str, ...]) -> None:
    """Print all settings of a configuration, with defaults and changes, as TOML.

    The output is a configuration again: `run --config mine.toml`.
    """
    from pipeline.config_files import load_config, to_toml

    echo(to_toml(load_config(config_name, overrides)).removesuffix("\n"))


@config.command(
    "explain",
    short_help="Say what a setting means and what it may be.",
    examples=("datamodels-inf config explain test.alpha", "datamodels-inf config explain test"),
)
@click.argument("setting", type=SettingName())
def config_explain(setting: str) -> None:
    """Say what SETTING may be, its default and its meaning.

    SETTING is a key such as test.alpha, or a section such as test.
    """
    from pipeline.config_reference import explain

    echo(explain(setting))


@config.command(
    "reference",
    short_help="Print all settings as Markdown.",
    examples=("datamodels-inf config reference > configuration.md",),
)
def config_reference() -> None:
    """Print all settings as Markdown, as in docs/configuration.md."""
    from pipeline.config_reference import reference

    echo(reference().removesuffix("\n"))
