"""The answer stands first, with what spoils it."""

import pytest
from report_content import make_blocks, make_rows
from report_page import read_table


@pytest.mark.parametrize(
    ("tests", "found", "expected"),
    [
        (2000, 7, "7 of 2,000 pairs influence their target differently, at a false discovery rate of 0.2 ("),
        (2000, 1, "1 of 2,000 pairs influences its target differently, at a false discovery rate of 0.2 ("),
        (
            40,
            0,
            "None of the 40 pairs was found to influence its target differently, at a false discovery rate of 0.2 (",
        ),
        (1, 1, "1 of 1 pair influences its target differently, at a false discovery rate of 0.2 ("),
        (1, 0, "The one pair tested was not found to influence its target differently, at a false discovery"),
        (0, 0, "No pair was tested."),
    ],
)
def test_the_answer_comes_first(report, tests, found, expected):
    folder, page = report(make_rows(tests, found))
    _, _, after_contents = page.text.partition(" Where this comes from ")
    assert after_contents.startswith(f"Digits {expected}")
    assert tests == 0 or f"(Benjamini–Yekutieli over {tests:,} test{'s' if tests > 1 else ''})." in after_contents[:200]
    assert len(read_table(folder / "tests.csv")) == tests
    assert len(read_table(folder / "findings.csv")) == found
    panels = sorted(p.name for p in folder.glob("panels/*"))
    assert panels == [f"paired-{k:03d}.png" for k in range(1, found + 1)]
    assert ("5 × 10⁻⁵" in page.text) == (tests == 2000)


def test_a_warning_stands_under_the_answer(report):
    _, page = report(make_rows(9, 2))
    assert "a swap alone changes nothing" in page.text
    _, page = report(make_rows(9, 2), provenance={"Warning": "the masks failed the check."})
    assert "0.2 (Benjamini–Yekutieli over 9 tests). Warning: the masks failed the check. " in page.text
    assert "a swap alone changes nothing" not in page.text


def test_where_every_model_tests_the_answer_says_how(report):
    rows = [*make_rows(9, 2), *make_rows(9, 1, method="swap")]
    _, page = report(rows, blocks=make_blocks(), n_models_test=900)
    how = (
        "Every model but the first 100 tests: 900 models in 3 blocks, each block with datamodels fitted on the models "
    )
    assert f"{how}before it. swap is tested on the last block’s 300 models alone." in page.text
    assert "pairs tested 9 on 900 models, in 3 blocks" in page.text
    assert "pairs tested 9 on the last block’s 300 models" in page.text
    assert "on the last block, by the fit of the 700 models before it; Spearman" in page.text
    assert "held-out" not in page.text
    _, page = report(rows)
    assert page.text.count("pairs tested 9 on 1,000 held-out models") == 2
    assert "Every model but" not in page.text
