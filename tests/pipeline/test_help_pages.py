"""Help pages of small commands: headings, examples, limits and names (of the real ones: product/test_help.py)."""

import click
from click.testing import CliRunner

from pipeline.help_pages import HOW, WHICH, HelpedCommand, HelpedGroup, HelpedOption, example_words
from pipeline.options import OneOf

MANY = "abcdefg"


def shown(*options, **settings):
    @click.command("toy", cls=HelpedCommand, **settings)
    def toy(**values):
        """Do a thing."""

    toy.params = [HelpedOption([f"--{name}"], **rest) for name, rest in options]
    return CliRunner().invoke(toy, ["--help"]).output


def test_headings_of_many_options_are_in_order_and_the_shared_ones_last():
    how = [(f"{name}-how", {"heading": HOW, "help": "How."}) for name in "ab"]
    page = shown(*how, ("where", {"heading": WHICH}), *((name, {"help": "One."}) for name in MANY))
    places = [page.index(f"\n{heading}:\n") for heading in ("Options", WHICH, HOW)]
    assert places == sorted(places) and page.index("--a-how") < page.index("--help")


def test_few_options_have_one_heading():
    page = shown(("a", {"heading": WHICH, "help": "A."}), ("b", {"heading": HOW, "help": "B."}))
    assert page.count(":\n") == 1 and "\nOptions:\n" in page


def test_a_heading_for_help_alone_is_not_worth_it():
    assert shown(*((name, {"help": "One."}) for name in MANY)).count(":\n") == 1
    page = shown(*((name, {"help": "One."}) for name in MANY), ("where", {"heading": WHICH}))
    assert HOW not in page and "Other options:\n  -" not in page.partition(WHICH)[0] and "\nOther options:\n" in page


def test_limits_are_words():
    page = " ".join(
        shown(
            ("a", {"type": click.IntRange(min=1), "help": "Some."}),
            ("b", {"type": click.IntRange(min=4), "help": "More.  [default: 9]"}),
            ("c", {"type": click.IntRange(min=2), "help": "Others."}),
        ).split()
    )
    assert "Some. --b" in page and "More. [default: 9; at least 4]" in page and "Others. [at least 2]" in page


def test_names_of_a_table_are_in_the_metavar_or_in_the_text():
    kind = OneOf(lambda: ["swap", "paired"])
    page = shown(("a", {"type": kind, "help": "One."}), ("b", {"type": kind, "metavar": "TEST", "help": "Two."}))
    assert "--a [swap|paired]  One.\n" in page and "--b TEST           Two. TEST: swap, paired.\n" in page


def test_examples_stand_as_they_are_before_the_options():
    line = "datamodels-inf toy --a 'x  y'" + " --b" * 20
    page = shown(("a", {}), examples=(line,))
    assert f"\nExamples:\n  {line}\n" in page and page.index("Examples") < page.index("Options")
    assert "Examples" not in shown(("a", {}))


def test_words_of_an_example_are_those_of_a_shell():
    assert example_words("datamodels-inf run --set 'a=[1, 2]'  # first") == [
        "datamodels-inf",
        "run",
        "--set",
        "a=[1, 2]",
    ]


def test_a_group_has_its_commands_in_their_order_and_whole():
    commands = {name: click.Command(name, short_help=f"{name} " * 12 + "end.") for name in ("zoo", "ant")}
    page = CliRunner().invoke(HelpedGroup("g", commands=commands), ["--help"]).output
    assert (
        page.index("  zoo ") < page.index("  ant ")
        and page.count("end.") == 2
        and "..." not in page.partition("zoo")[2]
    )
    parts = HelpedGroup("g", sections={"Second": {"zoo": commands["zoo"]}, "First": {"ant": commands["ant"]}})
    page = CliRunner().invoke(parts, ["--help"]).output
    assert page.index("Second:\n  zoo") < page.index("First:\n  ant") < page.index("Options:\n")
    assert list(parts.commands) == ["zoo", "ant"]
