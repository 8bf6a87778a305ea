"""What sections are made of: nothing unknown, nothing changed, numbers where texts are wanted."""

import pytest
from pydantic import ValidationError

from pipeline.settings.base import Count, Fraction, Number, Section


class Toy(Section):
    """One of each."""

    name: str = "a"
    count: Count = 1
    number: Number = 0
    fraction: Fraction = 0.5


def test_a_number_may_stand_where_a_text_is_wanted():
    assert Toy(name=3).name == "3"


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Toy().count = 2


@pytest.mark.parametrize(
    "wrong",
    (
        {"names": "b"},
        {"count": 0},
        {"count": 2.0},
        {"count": True},
        {"number": -1},
        {"number": "3"},
        {"fraction": 0.0},
        {"fraction": 1.0},
        {"fraction": float("nan")},
    ),
    ids=str,
)
def test_what_is_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValidationError) as caught:
        Toy(**wrong)
    assert [error["loc"] for error in caught.value.errors()] == [(name,)]


def test_the_ends_are_allowed():
    assert Toy(count=1, number=0) == Toy()
