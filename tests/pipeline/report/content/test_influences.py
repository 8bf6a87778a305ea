"""What the page is told of single images: what is shown and listed, and what a family is."""

import pytest
from influence_atlas import make_influences


@pytest.fixture(scope="module")
def influences():
    return make_influences()


def test_a_target_is_shown_from_its_best_helper_to_its_worst_hurter(influences):
    for target in influences.targets:
        effects = [single.effect for single in target.shown]
        assert effects == sorted(effects, reverse=True)
        assert len(target.shown) == len(target.helpers) + len(target.hurters) > 5


def test_what_is_listed_is_found_or_shown_once_and_with_its_rank(influences):
    for target in influences.targets:
        images = [single.image for single in target.listed]
        assert sorted(images) == sorted({single.image for single in (*target.findings, *target.shown)})
        effects = [single.effect for single in target.listed]
        assert effects == sorted(effects, reverse=True)
        assert {single.image for single in target.listed if single.rank} == {single.image for single in target.shown}


@pytest.mark.parametrize(("family", "size"), [("target", 12), ("all", 60)])
def test_a_family_is_the_images_of_a_target_or_everything(family, size):
    influences = make_influences(family=family)
    assert influences.family_size == size
    found = [len(target.findings) for target in influences.targets]
    told = [target.family_found for target in influences.targets]
    assert told == (found if family == "target" else [influences.n_found] * 4)
