"""The roles of re-runs: each is made, drawn and named, and no two look alike."""

import re
from importlib.resources import files

import pytest
from report_content import make_robustness

from pipeline.report.output.robustness_picture import COLOURS
from pipeline.stages.robustness import rerun_design
from pipeline.summaries import CaseSummary, RobustnessSummary
from pipeline.text.rerun_roles import COMPARED, CONFIRMED, FOLLOW_UP, NAMED, ROLES, explanation

STYLE = files("pipeline.report").joinpath("templates/style.css").read_text(encoding="utf-8")


def test_the_numbers_of_the_stage_are_the_places_in_the_table():
    numbers = {name: getattr(rerun_design, name.upper()) for name in ROLES}
    assert numbers == {name: place for place, name in enumerate(ROLES)}


def test_all_but_the_original_are_compared_with_it():
    assert [role.name for role in COMPARED] == [name for name in ROLES if name != "original"]
    assert {role.name for role in COMPARED} == make_robustness().cases[0].agreement.keys()


@pytest.mark.parametrize("words", ("name", "title", "in_key", "in_terminal", "css_class"))
def test_no_two_roles_are_called_the_same(words):
    assert len({getattr(role, words) for role in ROLES.values()}) == len(ROLES)


def test_every_role_has_a_colour_of_its_own_in_the_picture_and_on_the_page():
    assert list(COLOURS) == list(ROLES)
    on_page = dict(re.findall(r"\.reruns-key \.([\w-]+) { color: var\((--\w+)\)", STYLE))
    assert on_page.keys() == {role.css_class for role in ROLES.values()}
    assert len(set(COLOURS.values())) == len(set(on_page.values())) == len(ROLES)


def test_a_name_for_the_terminal_fits_its_column():
    assert all(len(f"median: {role.in_terminal}") <= 50 for role in ROLES.values())


@pytest.mark.parametrize(
    ("finding", "split", "words"), ((3, False, FOLLOW_UP), (3, True, CONFIRMED), (None, False, NAMED))
)
def test_what_was_selected_on_these_models_is_not_confirmed_by_them(finding, split, words):
    case = CaseSummary(finding=finding, i=1, j=2, targets=(0,), near={}, agreement={})
    summary = RobustnessSummary(method="swap", metric="pixels", split=split, n_held_out=9, n_tests=1, cases=(case,))
    assert explanation(summary) == words
