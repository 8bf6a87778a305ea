"""In a notebook: a headline that names level and family, the first findings with pictures, small and safe."""

import re

import numpy as np
import pytest
from report_content import EVIL, Page
from simulated_models import simulated

from datamodels_inf import analyse
from datamodels_inf.analysis.display import SHOWN, headline, in_words

MASKS, OUTCOMES = simulated(n=1000)
NOISE = np.random.default_rng(7).standard_normal(1000)


def test_the_headline_names_level_and_family():
    result = analyse(MASKS, OUTCOMES, method=["contrast", "paired"], correction="bh", alpha=0.1)
    n, found = len(result.pairs), len(result.findings("contrast"))
    assert found > SHOWN
    words = headline(result, "contrast")
    assert words.startswith(f"{found} of {n} pairs influence their target differently: the contrast, by signed ranks, ")
    assert words.endswith(f"at a false discovery rate of 0.1 (Benjamini–Hochberg over {n} tests)")
    for shown in (repr(result), Page(result._repr_html_()).text):
        assert words in shown and headline(result, "paired") in shown
        assert "others test; 30 training items, 2 targets; masks: fixed-size, share 0.5; median R²" in shown
    page = Page(result._repr_html_())
    assert [len(rows) - 1 for _, rows in page.tables] == [SHOWN, min(SHOWN, len(result.findings("paired")))]
    assert f"and {found - SHOWN} more" in page.text
    first, row = page.tables[0][1][1], result.findings("contrast").iloc[0]
    assert first[3] == f"{row['effect']:+.3g}"
    assert first[4:6] == [
        f"{row[f'effect_low{kind}']:.3g} to {row[f'effect_high{kind}']:.3g}" for kind in ("", "_selected")
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    (({}, "a higher outcome is better, assumed"),
     ({"outcome": "test_loss"}, "a lower test_loss is better, by its name"),
     ({"outcome": "loss", "higher_is_better": True}, "a higher loss is better, as given")),
)  # fmt: skip
def test_it_is_said_whether_more_is_better(given, words):
    result = analyse(MASKS, OUTCOMES, pairs=[(3, 8, 0)], **given)
    assert words in repr(result) and words in Page(result._repr_html_()).text


def test_a_pvalue_too_small_for_a_float_is_not_shown_as_zero():
    masks = np.random.default_rng(0).random((6000, 30)) < 0.5
    result = analyse(masks, masks[:, 0] - 1.0 * masks[:, 1], pairs=[(0, 1, 0)], method="paired", alpha=0.5)
    assert result.findings()["pvalue"][0] == 0.0
    assert "p < 1e-300, adjusted < 1e-300" in repr(result)
    assert Page(result._repr_html_()).tables[0][1][1][-2:] == ["< 1e-300", "< 1e-300"]


def test_one_test_is_its_own_family():
    result = analyse(MASKS, OUTCOMES, pairs=[(3, 8, 0)], method="contrast", correction="holm")
    words = "1 of 1 pair influences its target differently"
    assert headline(result, "contrast").startswith(words) and headline(result, "contrast").endswith(
        "(Holm over 1 test)"
    )
    assert "family-wise error of 0.2" in repr(result)
    beyond = analyse(MASKS, OUTCOMES, pairs=[(3, 8, 0)], tau=0.1)
    assert "target differently by more than τ = 0.1" in repr(beyond)


@pytest.mark.parametrize(("method", "words"), (("swap", 'method="contrast" sees smaller'), ("contrast", "more models")))
def test_nothing_found_shows_the_closest_and_says_what_may_help(method, words):
    result = analyse(MASKS, NOISE, method=method, alpha=0.01)
    assert len(result.findings()) == 0 and "0 of" in repr(result) and words in repr(result)
    page = Page(result._repr_html_())
    assert words in page.text and len(page.tables[0][1]) == 4


def test_pictures_are_small_and_many_are_left_out():
    rng = np.random.default_rng(0)
    big = rng.integers(0, 256, (30, 200, 200, 3)).astype(np.uint8)
    targets = rng.integers(0, 256, (2, 8, 8)).astype(np.uint8)
    html = analyse(MASKS, OUTCOMES, method=["swap", "paired", "contrast"], images=(big, targets))._repr_html_()
    pictures = re.findall(r'src="data:image/png;base64,[^"]+"', html)
    assert len(pictures) > 30 and len(html) < 200_000
    only = analyse(MASKS, OUTCOMES, method="contrast", images=big)._repr_html_()
    assert len(re.findall("<img", only)) == 2 * SHOWN
    assert "<img" not in analyse(MASKS, OUTCOMES, method="contrast")._repr_html_()


def test_words_of_users_are_escaped_and_colours_are_those_of_the_notebook():
    names = [f"{EVIL} {k}" for k in range(30)], [EVIL, EVIL + "2"]
    result = analyse(MASKS, OUTCOMES, names=names, outcome=EVIL, method="contrast")
    html = result._repr_html_()
    page = Page(html)
    assert page.scripts == [] and EVIL in page.text and "<script" not in html
    assert not re.search(r"(?<![-\w])(color|background)\s*:", html) and "href" not in html


def test_an_effect_that_is_not_known_is_said_to_be():
    masks = MASKS.copy()
    masks[:, 4] = masks[:, 5]
    result = analyse(masks, OUTCOMES, pairs=[(4, 5, 0)], allow_unexchangeable=True)
    assert "could not be estimated" in in_words(result, 0)
    assert "not known" in Page(result._repr_html_()).text and "Warning" in Page(result._repr_html_()).text


def test_groups_are_told_by_their_first_member():
    result = analyse(MASKS, OUTCOMES, pairs=[([3, 4], [8, 9], 0)], method="contrast", labels=np.arange(30) // 10)
    assert "training on this 0 (train 3) and 1 more instead of this 0 (train 8) and 1 more" in in_words(result, 0)
    assert "0 (train 3) and 1 more" in Page(result._repr_html_()).text
