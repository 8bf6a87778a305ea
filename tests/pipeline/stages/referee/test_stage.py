"""The stage's verdicts are those of the library on the same models; keys know contents."""

import shutil

import numpy as np
import pytest
from small_refereed import FIT_ROWS, METHODS, ROWS, TARGETS, pipeline

from datamodels_inf import referee
from pipeline.errors import BadInputError
from pipeline.stages.inputs import Fitted
from pipeline.stages.referee.stage import CONTRADICTIONS, PAIRS
from pipeline.store.tables import read_columns
from pipeline.summaries import DownloadSummary, RefereeSummary, read_summary

NAMES = ("good", "turned", "noise", "lasso")


@pytest.fixture(scope="module")
def result(source, store):
    return pipeline(source, store).run("referee")


@pytest.fixture(scope="module")
def by_library(source, store):
    """`datamodels_inf.referee` on dense masks with the same datamodels."""
    fitted = Fitted.of(pipeline(source, store).run("fit"))
    theta, bias = fitted.datamodel.weight.astype(float), fitted.datamodel.bias.astype(float)
    masks = np.load(source / "data" / "train_masks_50pct.npy")[FIT_ROWS:ROWS]
    margins = np.load(source / "data" / "test_margins_50pct.npy")[FIT_ROWS:ROWS].astype(float)
    scores = {"good": np.load(source / "good.npy"), "turned": np.load(source / "turned.npy"),
              "noise": np.load(source / "noise.npy").T, "lasso": theta}  # fmt: skip
    return referee(masks, margins, scores, theta=theta, bias=bias)


def test_the_table_is_what_the_library_says(result, by_library):
    pairs = read_columns(result.folder / PAIRS)
    np.testing.assert_array_equal(np.stack([pairs["i"], pairs["j"]], axis=1), by_library.pairs)
    np.testing.assert_array_equal(pairs["target"], by_library.target)
    np.testing.assert_allclose(pairs["pvalue"], by_library.pvalue, rtol=1e-9)
    np.testing.assert_allclose(pairs["effect"], by_library.effect, rtol=1e-9)
    for m, ruling in enumerate(by_library.rulings):
        np.testing.assert_array_equal(pairs[f"claim_{m}"], by_library.claim[:, m])
        np.testing.assert_array_equal(pairs[f"verdict_{m}"], ruling.verdict)
        np.testing.assert_allclose(pairs[f"adjusted_{m}"], ruling.adjusted, rtol=1e-9)
    found, kept = by_library.contradictions(), read_columns(result.folder / CONTRADICTIONS)
    for name in ("pair", "right", "wrong"):
        np.testing.assert_array_equal(kept[name], getattr(found, name))


def test_the_summary_counts_them(result, by_library):
    summary = read_summary(result, RefereeSummary)
    assert tuple(one.name for one in summary.methods) == NAMES
    for one in summary.methods:
        assert dict(one.verdicts) == dict(by_library.counts()[one.name])
        assert one.n_claims == sum(one.verdicts.values())
        assert one.n_claims + one.n_silent == 15 * TARGETS
        for verdict, count in one.verdicts.items():
            assert count == sum(kind[verdict] for kind in one.kinds.values())
    for one in summary.decided:
        assert (one.first_right, one.second_right) == by_library.decided(one.first, one.second)
    assert len(summary.decided) == 6
    assert summary.n_contradictions == len(by_library.contradictions())


def test_a_good_method_is_confirmed_and_a_turned_one_reversed_with_a_warning(result):
    summary = read_summary(result, RefereeSummary)
    good, turned, noise, lasso = summary.methods
    assert good.share("confirmed") > 0.8
    assert turned.share("reversed") > 0.8
    assert lasso.share("confirmed") > 0.8
    assert noise.share("confirmed") < 0.7
    assert [warning.split(":")[0] for warning in summary.warnings] == ["turned"]
    assert turned.lds.high < 0 < good.lds.low
    assert turned.r2.value > 0.3  # It does not see the sign.
    assert "noise.npy has a row for each target" in noise.notes[0]


def test_less_is_better_turns_the_verdicts_of_files_but_not_of_the_own_datamodel(source, store, monkeypatch):
    """Scores say what helps; the weights of a datamodel say what raises the outcome."""

    made = pipeline(source, store)
    straight = read_summary(made.run("referee"), RefereeSummary)
    monkeypatch.setattr(DownloadSummary, "model_validate", classmethod(_lower(DownloadSummary.model_validate)))
    made.force = {"referee"}
    turned = read_summary(made.run("referee"), RefereeSummary)
    for one, other in zip(straight.methods, turned.methods, strict=True):
        same = one.name == "lasso"
        assert other.lds.value == pytest.approx(one.lds.value if same else -one.lds.value)
        if same:
            assert other.verdicts["confirmed"] == pytest.approx(one.verdicts["confirmed"], abs=3)
        else:
            assert other.verdicts["reversed"] == one.verdicts["confirmed"]
    monkeypatch.undo()
    made.run("referee")


def _lower(validate):
    def changed(cls, content):
        return validate(content).model_copy(update={"higher_is_better": False})

    return changed


def test_a_key_holds_contents_and_names_not_places(source, store, tmp_path):
    shutil.copyfile(source / "good.npy", tmp_path / "good.npy")
    elsewhere = [str(tmp_path / "good.npy"), *(str(source / name) for name in METHODS[1:3]), "lasso"]
    keys = {
        name: dict(pipeline(source, store, *more).specs())["referee"].key
        for name, more in {
            "same": (),
            "elsewhere": (f"referee.scores={elsewhere}",),
            "unseen": ("referee.unseen=true",),
            "k": ("referee.k=4",),
            "negated": ("referee.negate=noise",),
            "alpha": ("referee.alpha=0.2",),
            "pages": ("report.title=Other",),
        }.items()
    }
    assert keys["same"] == keys["elsewhere"] == keys["unseen"] == keys["pages"]
    assert len({keys[name] for name in ("same", "k", "negated", "alpha")}) == 4
    np.save(tmp_path / "good.npy", np.load(source / "good.npy") * 2)
    assert dict(pipeline(source, store, f"referee.scores={elsewhere}").specs())["referee"].key != keys["same"]


def test_the_report_and_the_other_stages_do_not_know_of_it(source, store):
    with_it, without = (
        dict(pipeline(source, store, *more).specs()) for more in ((), ("referee.scores=[]", "referee.k=9"))
    )
    assert {"referee", "referee-page"} == with_it.keys() - without.keys()
    assert all(with_it[name].key == spec.key for name, spec in without.items())


def test_every_model_tests_where_rows_are_progressive(source, tmp_path):
    more = (
        "test.rows=progressive",
        "test.blocks=2",
        "source.first_rows=250",
        "source.fit_rows=",
        "source.held_out_rows=",
    )
    made = pipeline(source, tmp_path, *more)
    summary = read_summary(made.run("referee"), RefereeSummary)
    assert (summary.n_blocks, summary.n_models) == (2, 400)
    good, turned = summary.methods[:2]
    assert good.share("confirmed") > 0.8
    assert turned.share("reversed") > 0.8


def test_scores_that_claim_nothing_are_no_trouble(source, tmp_path):
    np.save(tmp_path / "zero.npy", np.zeros((24, TARGETS)))
    made = pipeline(source, tmp_path / "s", f"referee.scores={[str(tmp_path / 'zero.npy')]}")
    page = made.run("referee-page")
    (one,) = read_summary(made.run("referee"), RefereeSummary).methods
    assert (one.n_claims, one.n_silent, one.n_constant) == (0, 15 * TARGETS, TARGETS)
    assert (one.lds.value, one.fit_correlation) == (0.0, 0.0)
    assert "nothing to decide" in (page.folder / "index.html").read_text()


def test_masks_that_break_the_premise_stop_it(source, tmp_path):
    folder = tmp_path / "cifar"
    shutil.copytree(source, folder)
    masks = np.load(folder / "data" / "train_masks_50pct.npy")
    masks[FIT_ROWS + 1 :: 2] = masks[FIT_ROWS:-1:2]
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    with pytest.raises(BadInputError, match="not independent and exchangeable"):
        pipeline(folder, tmp_path / "s", methods=("good.npy",)).run("referee")


def test_pairs_that_stratified_masks_do_not_allow_are_not_tested(source, tmp_path):
    """Every mask holds half of the cats and half of the dogs: only pairs within a class are exchangeable."""
    folder = tmp_path / "cifar"
    shutil.copytree(source, folder)
    rng = np.random.default_rng(8)
    masks = np.zeros((ROWS, 24), bool)
    for row in masks:
        for first in (0, 1):
            row[rng.choice(12, 6, replace=False) * 2 + first] = True
    weight = np.load(folder / "good.npy")
    np.save(folder / "data" / "train_masks_50pct.npy", masks)
    margins = masks @ weight + 0.5 * rng.standard_normal((ROWS, TARGETS))
    np.save(folder / "data" / "test_margins_50pct.npy", margins.astype(np.float16))
    result = pipeline(folder, tmp_path / "s", methods=("good.npy",)).run("referee")
    (good,) = read_summary(result, RefereeSummary).methods
    pairs = read_columns(result.folder / PAIRS)
    across = (pairs["i"] + pairs["j"]) % 2 == 1
    assert 0 < across.sum() < len(across)
    np.testing.assert_array_equal(np.isnan(pairs["pvalue"]), across)
    assert good.verdicts["untested"] == across.sum()
    assert good.verdicts["confirmed"] > 0.6 * (~across).sum()
