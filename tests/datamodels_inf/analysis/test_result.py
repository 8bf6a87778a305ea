"""The tables of an analysis: findings are numbered as everywhere, quality is that of the tested models, reports are
written by whoever offers to."""

import numpy as np
import pytest
from simulated_models import simulated

from datamodels_inf import Datamodel, analyse
from datamodels_inf.analysis import result as module
from datamodels_inf.findings import Family, finding_order

MASKS, OUTCOMES = simulated(n=1000)


@pytest.fixture(scope="module")
def result():
    names = [f"image {k}" for k in range(30)], ["first", "second"]
    return analyse(MASKS, OUTCOMES, names=names, method=["paired", "contrast"], outcome="loss", higher_is_better=False)


def test_findings_are_numbered_by_method(result):
    tests, found = result.tests(), result.findings()
    for method in ("paired", "contrast"):
        own = tests[tests["method"] == method]
        family = Family(own["pvalue"].to_numpy(), result.settings)
        assert (own["finding"].to_numpy() == family.found).all() and family.n_found > 0
        assert (own["pvalue_adjusted"].to_numpy() == family.adjusted).all()
        order = finding_order(*(own[name].to_numpy() for name in ("pvalue", "effect", "target", "i", "j")))
        numbered = found[found["method"] == method]
        assert numbered["number"].tolist() == list(range(1, family.n_found + 1))
        assert numbered["pvalue"].tolist() == own["pvalue"].to_numpy()[order][: family.n_found].tolist()
        assert (
            result.findings(method).drop(columns="words").equals(numbered.drop(columns="words").reset_index(drop=True))
        )
    with pytest.raises(ValueError, match="`method` must be one of paired, contrast"):
        result.findings("swap")


def test_columns_of_which_nothing_is_known_are_left_out(result):
    assert {"name_i", "name_target"} <= set(result.tests().columns)
    assert not {"class_i", "class_target", "members_i"} & set(result.tests().columns)
    assert not {"name_i", "class_i"} & set(analyse(MASKS, OUTCOMES, k=2).tests().columns)
    assert result.tests()["name_i"].tolist() == [f"image {i}" for i in result.tests()["i"]]


def test_words_say_who_what_and_how_much(result):
    first = result.findings("contrast").iloc[0]
    verb = "raises" if first["effect"] > 0 else "lowers"
    assert first["words"].startswith(
        f"training on {first['name_i']} instead of {first['name_j']} {verb} the loss on {first['name_target']} by "
        f"{abs(first['effect']):.3g}, 95 % interval "
    )
    ends = sorted(abs(first[f"effect_{end}_selected"]) for end in ("low", "high"))
    assert first["words"].endswith(
        f"; {ends[0]:.3g} to {ends[1]:.3g} as one of {len(result.findings('contrast'))} findings"
    )


def test_quality_is_that_of_the_tested_models(result):
    start, stop = result.division.tested
    model = result.fitted.datamodel
    expected = Datamodel(model.weight, model.bias, model.lam).quality(MASKS[start:stop], OUTCOMES[start:stop])
    assert result.quality["r2"].tolist() == pytest.approx(expected.r2.tolist(), rel=1e-9)
    assert result.quality["spearman"].tolist() == pytest.approx(expected.spearman.tolist(), rel=1e-9)
    assert result.quality["name"].tolist() == ["first", "second"]


def test_a_target_without_a_datamodel_has_no_influences():
    result = analyse(MASKS, OUTCOMES, k=2, targets=[1])
    with pytest.raises(ValueError, match="target 0 has no datamodel"):
        result.influence(0)
    assert len(result.influence(1)) == 30


def test_without_a_package_that_writes_reports_there_is_a_sentence(result, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "REPORTS", "datamodels_inf.no_such_group")
    with pytest.raises(RuntimeError, match="no installed package writes reports"):
        result.report(tmp_path / "out")


def test_equal_calls_give_equal_tables(result):
    again = analyse(MASKS, OUTCOMES, names=result.items.names, method=["paired", "contrast"], higher_is_better=False)
    assert again.tests().equals(result.tests())
    assert np.isnan(again.tests()["effect_low_selected"][~again.tests()["finding"]]).all()
