"""The commands of `datamodels-inf`: one file each, with its options and what it calls, and one line in TASKS.

Imports that take time stand inside the functions, so that `--help` and errors answer at once; what a command does and
prints is in `pipeline.commands`.
"""

from __future__ import annotations

import click

from pipeline.commands.definitions.check import check
from pipeline.commands.definitions.compare import compare
from pipeline.commands.definitions.completion import completion
from pipeline.commands.definitions.config import config
from pipeline.commands.definitions.findings import findings
from pipeline.commands.definitions.images import images
from pipeline.commands.definitions.import_folder import import_folder
from pipeline.commands.definitions.influence import influence
from pipeline.commands.definitions.init import init
from pipeline.commands.definitions.merge import merge
from pipeline.commands.definitions.panel import panel
from pipeline.commands.definitions.plan import plan
from pipeline.commands.definitions.referee import referee
from pipeline.commands.definitions.report import report
from pipeline.commands.definitions.robustness import robustness
from pipeline.commands.definitions.simulate import simulate
from pipeline.commands.definitions.stages import download, fit, run, test
from pipeline.commands.definitions.status import status
from pipeline.commands.definitions.train import train
from pipeline.commands.definitions.verify import verify

TASKS: dict[str, dict[str, click.Command]] = {
    "Run an analysis": {
        "run": run,
        "download": download,
        "fit": fit,
        "test": test,
        "report": report,
    },
    "Look at what was found": {
        "findings": findings,
        "compare": compare,
        "influence": influence,
        "panel": panel,
        "status": status,
    },
    "Bring models of your own": {
        "init": init,
        "import": import_folder,
        "train": train,
        "merge": merge,
        "images": images,
    },
    "Check what was found": {
        "verify": verify,
        "robustness": robustness,
        "referee": referee,
        "simulate": simulate,
    },
    "Prepare": {
        "plan": plan,
        "check": check,
        "config": config,
        "completion": completion,
    },
}
"""What people do → name → command, in the order in which a user meets them."""

COMMANDS: dict[str, click.Command] = {
    name: command for commands in TASKS.values() for name, command in commands.items()
}
"""All of them."""
