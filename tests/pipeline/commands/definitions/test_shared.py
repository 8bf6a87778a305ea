"""The words that name a configuration, as a shell takes them."""

import shlex
from pathlib import Path

from pipeline.commands.definitions.shared import config_words, making_command, reproducing_command

CHANGED = ('test.method=["paired", "contrast"]', "test.target_class=a dog")


def test_a_command_can_be_pasted_into_a_shell():
    words = shlex.split(reproducing_command("digits", CHANGED))
    assert words == ["datamodels-inf", "run", "--config", "digits", "--set", CHANGED[0], "--set", CHANGED[1]]
    assert words[2:] == config_words("digits", CHANGED)


def test_a_store_is_named_only_where_it_is_not_the_usual_one():
    assert making_command("test", "digits", (), Path("data")) == "datamodels-inf test --config digits"
    assert making_command("test", "digits", (), Path("big disk")).endswith("--store 'big disk'")


def test_a_command_does_not_say_where_the_work_was_done():
    elsewhere = ("cluster.address=local:2", *CHANGED, "cluster.patience=5")
    assert reproducing_command("digits", elsewhere) == reproducing_command("digits", CHANGED)
    assert reproducing_command("digits", elsewhere, "referee").startswith("datamodels-inf referee --config digits")
    assert "cluster" not in reproducing_command("digits", elsewhere, "referee")
