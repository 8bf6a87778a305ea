"""What becomes of masks that break the premise: refused by name, tested in part, or warned of."""

import numpy as np
import pytest
from command_here import ok
from masks_of_people import FIT_ROWS, HELD_OUT, LABELS, METHODS, OLD, TARGETS, make, pairs_of, run
from released_layout import FILES, harm_masks, released

from datamodels_inf import check_exchangeable
from pipeline.commands import findings
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline
from pipeline.stages.test.premise import spoiled_influences


@pytest.mark.parametrize(("name", "sentence"), [
    ("blocks", "images go together in blocks"),
    ("antithetic", "the complement stands there too"),
    ("reseeded", "are also masks of fit rows, so that θ̂ has seen them.*source.group_by_mask = true averages"),
])  # fmt: skip
def test_the_run_is_refused_before_the_fit(tmp_path, name, sentence):
    make(tmp_path / name, name)
    said = []
    with pytest.raises(BadInputError, match=f"no p-value would be valid: .*{sentence}"):
        run(tmp_path / name, *pairs_of(tmp_path / name, "across"), say=said.append)
    assert not any("test " in line for line in said)
    assert not list((tmp_path / name / "store" / "fit").glob("[0-9a-f]*"))


def test_stratified_masks_test_pairs_within_a_class_and_name_the_others(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    said = []
    columns, summary = run(tmp_path / "0", *pairs_of(tmp_path / "0", "both"), say=said.append)
    across = LABELS[columns["i"]] != LABELS[columns["j"]]
    assert 0 < across.sum() < len(across)
    assert np.isnan(columns["pvalue"][across]).all()
    assert np.isnan(columns["effect"][across]).all()
    assert set(columns["note"][across]) == {
        "not tested: the masks are stratified by class, and the images are of two classes"
    }
    assert not np.isnan(columns["pvalue"][~across]).any()
    assert summary["mask_law"] == "stratified"
    assert summary["n_untested"] == across.sum() / len(METHODS) == 36 * TARGETS
    assert any("stratified by class: 1,800 of 3,600 pairs are of two classes and not tested" in line for line in said)


def test_a_run_without_any_pair_within_a_class_is_refused(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    with pytest.raises(
        BadInputError, match="stratified by class, so only pairs within a class can be tested, but every"
    ):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "across"))


def test_without_labels_stratified_masks_are_refused(tmp_path):
    make(tmp_path / "0", "stratified", 0)
    with pytest.raises(BadInputError, match=r"in blocks, or the rows are not independent.*give source\.labels"):
        run(tmp_path / "0", *pairs_of(tmp_path / "0", "within"), labels=False)


def test_the_given_order_is_refused_where_the_size_drifts(tmp_path):
    make(tmp_path / "0", "drifting size", 0)
    design = pairs_of(tmp_path / "0", "across")
    with pytest.raises(BadInputError, match=r'test\.order = "given" needs rows of one law, but the size of the masks'):
        run(tmp_path / "0", *design, "test.order=given")
    run(tmp_path / "0", *design, "test.order=given", "test.method=contrast")


def page_of(folder, *settings):
    """The report's page and the lines of `compare`."""
    common = ["source.kind=files", f"source.folder={folder}", f"source.labels={folder / 'labels.npz'}",
              f"source.fit_rows={FIT_ROWS}", f"source.held_out_rows={HELD_OUT}", "fit.targets=all", "fit.n_lambdas=10",
              "fit.lambda_ratio=0.05", "report.name=page", "report.max_panels=1"]  # fmt: skip
    pipeline = Pipeline(load_config("digits", [*common, *settings]), folder / "store", folder / "reports", quiet=True)
    pipeline.run("report")
    lines = findings.compare_lines(findings.Tested.of(pipeline, ""))
    return (folder / "reports" / "page" / "index.html").read_text(), list(lines)


def test_what_the_user_answers_for_is_a_warning_on_the_page_and_in_the_commands(tmp_path):
    make(tmp_path / "s", "stratified", 0)
    page, lines = page_of(tmp_path / "s", *pairs_of(tmp_path / "s", "both"), "test.method=contrast", OLD)
    assert "p-values may not be valid: every mask holds the same number of images of each class" in page
    assert "only pairs within a class are tested" not in page
    assert lines[0].startswith("Warning: p-values may not be valid")
    page, lines = page_of(tmp_path / "s", *pairs_of(tmp_path / "s", "both"), "test.method=contrast")
    assert "only pairs within a class are tested" in page
    assert "1,800 more cannot be: the masks are stratified by class" in page
    assert "may not be valid" not in page
    assert lines[0].startswith("Of 1,800 pairs")
    make(tmp_path / "d", "drifting size", 0)
    given = pairs_of(tmp_path / "d", "across"), "test.method=swap", "test.order=given", OLD
    page, lines = page_of(tmp_path / "d", *given[0], *given[1:])
    assert "p-values may not be valid: the size of the masks changes along the rows" in page
    assert "does no harm" not in page
    page, lines = page_of(tmp_path / "d", *given[0], "test.method=swap")
    assert "swap tests permute the rows, so that this does no harm" in page
    assert not lines[0].startswith("Warning")


def test_unexchangeable_masks_can_be_tested_all_the_same_and_the_report_warns(tmp_path):
    released(tmp_path / "cifar")
    harm_masks(tmp_path / "cifar")
    ok(tmp_path, "run", *FILES, "--set", "test.allow_unexchangeable=true")
    assert "failed the check of their premise" in (tmp_path / "reports" / "digits" / "index.html").read_text()


def test_what_spoils_the_influence_of_single_images(tmp_path):
    """Stratified masks do, as each image is compared with those of other classes; a drift along the rows does not."""
    asked, answered = load_config("digits", []), load_config("digits", [OLD, "test.order=given"])
    for name, begins in (("stratified", "every mask holds the same number of images of each class"),
                         ("blocks", "the squared correlations"), ("drifting size", ""), ("uniform", "")):  # fmt: skip
        masks = make(tmp_path / name, name)[FIT_ROWS:]
        report = check_exchangeable(masks, labels=LABELS)
        assert spoiled_influences(asked, report) == ""
        assert spoiled_influences(answered, report).startswith(begins)
        assert bool(spoiled_influences(answered, report)) == bool(begins)
