"""Names of tables on the command line: listed in the help, refused by name, and imported only when they are needed."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from datamodels_inf.methods import METHODS
from datamodels_inf.training import NETWORKS
from pipeline.cli import cli
from pipeline.options import OneOf, methods, networks, stages_for
from pipeline.stages import STAGES


def test_names_are_those_of_the_tables():
    assert (methods(), networks()) == (list(METHODS), list(NETWORKS))
    assert stages_for(*STAGES) == list(STAGES) and stages_for("fit") == ["download", "fit"]


def test_a_name_that_is_in_no_table_is_refused_with_those_that_are():
    one = OneOf(lambda: ["swap", "paired"])
    assert one.convert("paired", None, None) == "paired"
    with pytest.raises(click.BadParameter, match="'magic' is not one of 'swap', 'paired'"):
        one.convert("magic", None, None)


def test_tables_are_not_imported_before_they_are_asked():
    program = "import sys, pipeline.cli; assert 'numpy' not in sys.modules and 'pydantic' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["run", "verify", "simulate", "train"])
def test_the_help_says_how_many_threads_or_processes_there_are_by_default(name):
    said = " ".join(CliRunner().invoke(cli, [name, "--help"]).output.split())
    assert "Default: the cores that this process may use. Changes no result." in said
