"""What a docstring of the front door holds: a formula, or an example that the doctests run."""

import re

import pytest

import datamodels_inf

FORMULA = re.compile(r"[=≤≥≈∓Σ√∫∝~]")
CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|\w+=\S+")
"""What looks like a formula and is none: names, texts, and settings of an argument."""


def is_shown(text):
    """Whether it has an example, or a formula outside of code."""
    return ">>> " in text or bool(FORMULA.search(CODE.sub("", text)))


@pytest.mark.parametrize("name", datamodels_inf.__all__)
def test_every_name_of_the_front_door_has_a_formula_or_an_example(name):
    text = getattr(datamodels_inf, name).__doc__  # Its own: `inspect.getdoc` would take that of a parent class.
    assert text and is_shown(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    (
        ("T(x, y) = |y − b − xᵀθ̂|.", True),
        ("√(log(2/α)/n): enough.", True),
        ("As it is.\n\n>>> one()\n1", True),
        ("Many of them, see `plan(effect=0.3)`.", False),
        ('The coding "a = b", with overwrite=True.', False),
        ("", False),
    ),
)
def test_what_counts_as_shown(text, shown):
    assert is_shown(text) is shown
