"""Where nothing was found: another method is named only where there is something for it to see."""

import numpy as np
from report_content import groups_of, make_content, make_row, make_rows, make_weighted
from scipy.stats import false_discovery_control, t

from datamodels_inf.pair_answers import UNSEEN
from pipeline.report.evidence.stronger_methods import clear_effects, stronger_of

CLEAR = {"effect": 0.256, "effect_low": 0.222, "effect_high": 0.291, "effect_se": 0.0176}
UNCLEAR = {"effect": 0.02, "effect_low": -0.02, "effect_high": 0.06, "effect_se": 0.02}


def rows_of(method="swap", clear=2):
    known = [make_row(k, finding=False, method=method, **CLEAR) for k in range(clear)]
    return [*known, *(make_row(k, finding=False, method=method, **UNCLEAR) for k in range(9))]


def asked(rows, **changes):
    content = make_content(rows, **changes)
    return [stronger_of(group, content) for group in content.groups]


def test_a_clear_effect_that_swap_does_not_confirm_names_contrast_with_its_command():
    (found,) = asked(rows_of(), provenance={"Command": "datamodels-inf run --config my.toml --set test.method=swap"})
    assert (found.method, found.n_clear, found.n_found, found.half) == ("contrast", 2, 0, 0.1)
    assert found.command == "datamodels-inf run --config my.toml --set test.method=contrast --set test.alpha=0.1"
    (found,) = asked(rows_of(), provenance={}, in_memory=True)
    assert found.command == 'analyse(masks, outcomes, …, method="contrast", alpha=0.1)'
    (found,) = asked(rows_of("paired"), provenance={})
    assert found.command == ""
    (found,) = asked(rows_of(), provenance={"Command": "datamodels-inf run --config 'a b.toml'"})
    assert found.command == "datamodels-inf run --config 'a b.toml' --set test.method=contrast --set test.alpha=0.1"


def test_nothing_is_said_where_it_would_not_be_sound():
    assert asked(rows_of(clear=0)) == [None]
    assert asked(rows_of("contrast")) == [None]
    assert asked([*rows_of("swap"), *rows_of("contrast")]) == [None, None]
    assert asked(rows_of(), tau=0.1) == [None]
    assert asked(make_rows(9, 2, method="swap")) == [None]
    assert asked(rows_of("another")) == [None]
    assert asked([make_row(finding=False, method="swap", pvalue=np.nan, **CLEAR)]) == [None]


def test_pairs_of_equal_weights_are_offered_to_the_method_that_sees_them(report):
    blind = [make_row(k, finding=False, method="swap", note=UNSEEN[0], pvalue=1.0, **UNCLEAR) for k in range(7)]
    lost = make_row(9, finding=False, method="swap", note=UNSEEN[1], pvalue=1.0, **UNCLEAR)
    for others in (rows_of(clear=0), make_rows(5, 2, method="swap")):
        (found,) = asked([*blind, lost, *others])
        assert (found.method, found.n_clear, found.n_blind, found.n_found) == ("contrast", 0, 7, 0)
        _, page = report([*blind, lost, *others])
        assert f"7 of the {8 + len(others)} pairs have equal weights; contrast compares the margin" in page.text
    assert asked([lost, *rows_of(clear=0)]) == [None]  # No method sees what no model tells apart.
    _, page = report([*blind, lost, *rows_of(clear=0)])
    told = "Of the 17 pairs, swap cannot see 8 (7 of equal weights, 1 that no held-out model tells apart)."
    assert told in page.text
    assert "; swap cannot see 8 of the 17 pairs" in page.text
    assert "Below are the 5 pairs that came closest, of those that the test can see." in page.text
    _, page = report([*blind, *make_rows(5, 2, method="swap")])
    assert "Only 5 of the 12 pairs can be seen by swap (equal weights)." in page.text
    lucky = [make_row(k, finding=True, method="swap", note=UNSEEN[0]) for k in (20, 21)]
    _, page = report([*blind, *lucky, *make_rows(5, 2, method="swap")])
    assert "(equal weights). 2 findings are among those, by chance: their p-values are coins." in page.text
    _, page = report(blind)
    assert "There is no closest miss to show: the test could see none of these pairs." in page.text
    assert page.all("article") == []


def test_the_method_that_sees_equal_weights_may_be_on_the_page(report):
    blind = [make_row(k, finding=False, method="swap", note=UNSEEN[0], pvalue=1.0, **UNCLEAR) for k in range(7)]
    rows = [*blind, *make_rows(5, 2, method="swap"), *make_rows(12, 3, method="contrast")]
    of_swap, of_contrast = asked(rows)
    assert (of_swap.sees_blind, of_swap.on_page, of_swap.command, of_contrast) == ("contrast", True, "", None)
    _, page = report(rows)
    assert "contrast , on this page, sees also the 7 pairs of equal weights, which swap cannot see." in page.text
    assert "on this page, found" not in page.text  # swap has findings of its own.
    both = [*blind, *rows_of(clear=0), *make_rows(16, 6)]  # paired found some, and nothing sees equal weights.
    of_swap, _ = asked(both)
    assert (of_swap.method, of_swap.n_found, of_swap.sees_blind, of_swap.on_page) == ("paired", 6, "contrast", False)
    _, page = report(both)
    assert "Another method on this page, paired , found 6 pairs." in page.text
    assert "7 of the 16 pairs have equal weights; contrast compares the margin" in page.text


def test_a_method_on_the_page_that_found_something_is_named():
    of_swap, of_paired = asked([*rows_of("swap"), *make_rows(20, 6)])
    assert (of_swap.method, of_swap.n_found, of_swap.command, of_paired) == ("paired", 6, "", None)


def test_effects_are_counted_after_the_same_correction():
    rng = np.random.default_rng(0)
    effects = rng.normal(0, 2.5, 40) * 0.1
    rows = [make_row(k, finding=False, effect=e, effect_se=0.1, effect_df=99.0) for k, e in enumerate(effects)]
    p = 2 * t.sf(np.abs(effects) / 0.1, 99)
    (group,) = groups_of(rows)
    for correction in ("by", "bh"):
        expected = int((false_discovery_control(p, method=correction) <= 0.2).sum())
        assert 0 < clear_effects(group, make_content(rows, correction=correction)) == expected < 40
    weighted, expectations = make_weighted(rows)
    (group,) = groups_of(weighted)
    by_prior = make_content(weighted, correction="prior", expectations=expectations)
    assert clear_effects(group, by_prior) == int((false_discovery_control(p, method="by") <= 0.2).sum())


def test_unknown_effects_are_left_out():
    unknown = {"effect": np.nan, "effect_se": np.inf, "effect_df": np.nan}
    rows = [make_row(finding=False, **unknown), make_row(1, finding=False, **CLEAR)]
    (group,) = groups_of(rows)
    assert clear_effects(group, make_content(rows)) == 1
    (group,) = groups_of(rows[:1])
    assert clear_effects(group, make_content(rows)) == 0


def test_the_page_says_so(report):
    _, page = report(rows_of())
    assert "Another method would likely see more. By estimate and standard error, 2 of the 11 effects are" in page.text
    assert "datamodels-inf run configs/digits.toml --set test.method=contrast --set test.alpha=0.1" in page.text
    assert "At half the level each, test.alpha = 0.1, both together keep that of 0.2." in page.text
    _, page = report(rows_of(), provenance={}, in_memory=True)
    assert "At half the level each, alpha = 0.1, both" in page.text and "test.alpha" not in page.text
    assert 'analyse(masks, outcomes, …, method="contrast", alpha=0.1)' in page.text
    _, page = report(rows_of(clear=0))
    assert "Another method" not in page.text
    _, page = report([*rows_of("swap"), *make_rows(20, 6)])
    assert "Another method on this page, paired , found 6 pairs." in page.text
    assert "paired, on this page, found 6." in page.text[: page.text.index("Findings", 99)]
