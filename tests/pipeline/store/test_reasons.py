"""Why a stage runs: compared with what, and in words that can be read."""

import pytest

from pipeline.store.reasons import Wanted, readable, why_new

SETTINGS = {"test.method": ["swap"], "test.alpha": 0.2, "source.folder": None, "content": {"masks": "0f" * 32, "n": 3}}
WANTED = Wanted(1, SETTINGS, {"download": "abc"}, "digits")


def made(origin="digits", inputs=WANTED.inputs, **settings):
    changed = {name.replace("_", ".", 1): value for name, value in settings.items()}
    return {"version": 1, "settings": {**SETTINGS, **changed}, "inputs": dict(inputs), "origin": origin}


def test_the_nearest_of_the_same_configuration():
    earlier = [made(test_alpha=0.3), made(test_alpha=0.4, test_method=["paired"]), made("other", test_alpha=0.5)]
    assert why_new(WANTED, earlier) == "test.alpha: 0.3 → 0.2"
    assert why_new(WANTED, [made()]) == "its result is missing"


def test_other_configurations_are_no_measure_unless_they_are_next_to_the_same():
    far = made("cifar10", test_alpha=0.5, test_method=["paired"], source_folder="x")
    assert why_new(WANTED, [far]) == "not run before"
    assert why_new(WANTED, [made("cifar10", inputs={"download": "xyz"})]) == "not run before"
    assert why_new(WANTED, [far, made("digits-all", test_alpha=0.5)]) == "test.alpha: 0.5 → 0.2"
    old = {name: value for name, value in far.items() if name != "origin"}  # Before origins were noted.
    assert why_new(WANTED, [old]) == "not run before"


def test_another_folder_is_no_measure_though_nothing_else_differs():
    """A download has no inputs, so that only its contents tell one folder from another."""
    hashes = {"content of outcomes": "0f" * 32, "content of subsets": "2d" * 32}
    wanted = Wanted(1, {**SETTINGS, **hashes}, {}, "f-bool")
    other = {
        "version": 1,
        "settings": {**SETTINGS, "content of outcomes": "1e" * 32},
        "inputs": {},
        "origin": "f-lists",
    }
    assert why_new(wanted, [other]) == "not run before"
    own = {**other, "origin": "f-bool"}
    assert why_new(wanted, [other, own]) == "content of outcomes changed; content of subsets changed"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ({"test_method": ["paired", "contrast"]}, "test.method: paired, contrast → swap"),
        ({"source_folder": "my set"}, "source.folder: my set → unset"),
        ({"content": {"masks": "1e" * 32, "n": 3}}, "content, masks changed"),
        ({"content": {"masks": "0f" * 32, "n": 4}}, "content, n: 4 → 3"),
        ({"content": None}, "content changed"),
        ({"test_method": [f"method {n}" for n in range(20)]}, "test.method changed"),
    ],
)
def test_changes_can_be_read(before, said):
    assert why_new(WANTED, [made(**before)]) == said


def test_a_name_that_follows_from_other_changes_is_not_said():
    def named(**changes):
        return {**made(**changes), "settings": {**made(**changes)["settings"], "report.name": "digits-alpha-0.3"}}

    wanted = Wanted(1, {**SETTINGS, "report.name": "digits"}, WANTED.inputs, "digits")
    assert why_new(wanted, [named(test_alpha=0.3)]) == "test.alpha: 0.3 → 0.2"
    assert why_new(wanted, [named()]) == "report.name: digits-alpha-0.3 → digits"


def test_nothing_readable_is_cut():
    assert readable("x" * 41) is None and readable("x" * 40) == "x" * 40
    assert [readable(value) for value in (True, [], "", 1e-6)] == ["true", "unset", "unset", "1e-06"]
