"""`datamodels-inf config`: configurations, as they are and those that ship."""

from __future__ import annotations

import click

from pipeline.closed_pipe import echo
from pipeline.options import config_options, with_options


@click.group()
def config() -> None:
    """Look at configurations."""


@config.command("show")
@with_options(config_options)
def config_show(config_name: str, overrides: tuple[str, ...]) -> None:
    """Print the effective configuration as TOML."""
    from pipeline.config_files import load_config, to_toml

    echo(to_toml(load_config(config_name, overrides)).removesuffix("\n"))


@config.command("list")
def config_list() -> None:
    """Print the configurations that ship."""
    from pipeline.config_files import named_configs

    for name, path in sorted(named_configs().items()):
        echo(f"{name:<16} {path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}")
