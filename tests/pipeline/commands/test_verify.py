"""`verify`: the table, its CSV, what cannot be asked, and what there is nothing to say of."""

import csv
import math

import pytest
from command_here import call, ok
from small_trained import make_set, make_verified, settings

from pipeline.commands.verify import asked_settings, verify_lines
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.store.cache import Result
from pipeline.summaries import VerifySummary
from pipeline.verified import COLUMNS, write_verified

NOTHING = dict.fromkeys(("top", "pair", "target", "models", "method", "fresh", "seed")) | {"findings": ()}


def lines_of(folder, rows, *, as_csv=False, method="paired"):
    write_verified(folder, rows)
    summary = VerifySummary(method=method, n_claims=len(rows), n_pairs=1, n_couples=50, n_models=100, verdicts={})
    return list(verify_lines(Result(folder, {"summary": summary.as_json()}), as_csv))


def test_the_command_trains_prints_and_is_cached(tmp_path):
    """From the set to the table, as a user types it."""
    make_set(tmp_path, "--law", "bernoulli", "--proportion", 0.4)
    words = [word for setting in settings(tmp_path) for word in ("--set", setting)]
    question = ("verify", *words, "--finding", 2, "--finding", 1, "--models", 8, "--seed", 3)
    out = ok(tmp_path, *question)
    assert "Findings by contrast, against 16 fresh models: 4 couples for each pair of images" in out
    table = out.splitlines()
    head = next(k for k, line in enumerate(table) if line.startswith("no."))
    assert [line.split()[0] for line in table[head + 1 : head + 3]] == ["2", "1"]
    again = call(tmp_path, *question, "--csv")
    assert "verify    cached" in again.stderr
    rows = list(csv.DictReader(again.stdout.splitlines()))
    assert [row["finding"] for row in rows] == ["2", "1"]
    assert set(rows[0]) == set(COLUMNS)
    assert {row["verdict"] for row in rows} <= {"confirmed", "reversed", "open"}
    none = ok(tmp_path, "verify", *words, "--set", "test.alpha=1e-200", "--quiet")
    assert none == "There is no finding by contrast, so nothing was trained again.\n"


def test_all_findings_against_fresh_masks_and_single_ones_beside_them(tmp_path):
    make_set(tmp_path)
    words = [word for setting in settings(tmp_path) for word in ("--set", setting)]
    alone = ok(tmp_path, "verify", *words, "--fresh", 40)
    assert "Held against 40 fresh models" in alone and "Findings by contrast, against" not in alone
    both = ok(tmp_path, "verify", *words, "--fresh", 40, "--top", 1, "--models", 4)
    assert "fresh     cached" in both and "Findings by contrast, against 4 fresh models" in both
    dry = ok(tmp_path, "verify", *words, "--fresh", 48, "--dry-run")
    assert "dry run: 48 fresh models were not trained." in dry
    dry = ok(tmp_path, "verify", *words, "--top", 1, "--models", 6, "--dry-run")
    assert "dry run: 6 fresh models were not trained." in dry
    odd = call(tmp_path, "verify", *words, "--pair", "²", "3", "--target", 0)
    assert odd.returncode == 2 and odd.stderr.count("\n") == 1
    refused = call(tmp_path, "verify", *words, "--fresh", 40, "--csv")
    assert refused.returncode == 2 and "--csv is for single claims" in refused.stderr


def test_the_table_has_all_that_is_compared_and_a_line_of_counts(tmp_path):
    group = make_verified(0.01, finding=None, members_i=(1, 4), members_j=(2, 6))
    lines = lines_of(tmp_path, [make_verified(0.5), make_verified(-0.5, finding=7), group])
    assert lines[0].startswith("Findings by paired, against 100 fresh models")
    words = " ".join(lines[2].split())
    assert words == "3 1 (dog) 2 (truck) 5 (cat) 0.4 0.2 to 0.6 0.1 to 0.7 0.5 0.3 to 0.7 -0.71 confirmed"
    assert [line.split()[-1] for line in lines[2:5]] == ["confirmed", "reversed", "open"]
    assert "1 4 (dog, …)" in lines[4]
    assert lines[5].startswith("1 confirmed, 1 open, 1 reversed; 2 of 3 agree in sign; 1 of 3 inside the 95 % interval")
    assert lines_of(tmp_path, [], as_csv=True) == [",".join(COLUMNS)]
    assert "," + "1 4" + "," in lines_of(tmp_path, [group], as_csv=True)[1]


def test_a_question_takes_the_place_of_that_of_the_configuration():
    def asked(*overrides, **given):
        return load_config("digits", asked_settings("digits", overrides, NOTHING | given)).verify

    assert (asked().top, asked("verify.top=4").top) == (1, 4)
    assert asked("verify.top=4", findings=(3, 2)).findings == (3, 2)
    named = asked("verify.findings=[4]", pair=("12", "3:7"), target=8, models=10)
    assert (named.pair, named.target, named.models, named.findings) == ((12, "3:7"), 8, 10, ())
    assert asked("verify.pair=[1, 2]", "verify.target=3", models=20).pair == (1, 2)
    assert asked("verify.pair=[1, 2]", "verify.target=3", top=2).pair == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"top": 1, "findings": (2,)}, "only one of --finding, --pair and --top"),
        ({"pair": ("1", "2")}, "--pair and --target belong together"),
        ({"target": 3}, "--pair and --target belong together"),
    ],
)
def test_what_cannot_be_asked_together_is_refused(given, words):
    with pytest.raises(BadInputError, match=words):
        asked_settings("digits", (), NOTHING | given)


def test_a_source_of_other_models_is_refused_before_anything_is_fetched(tmp_path):
    done = call(tmp_path, "verify", "--config", "cifar10", "--top", 1)
    assert done.returncode == 2
    assert "verify trains more models like those of the source" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_not_known_of_a_named_pair_is_an_empty_cell(tmp_path):
    named = make_verified(0.3, finding=None, method="", effect_low_selected=math.nan, effect_high_selected=math.nan)
    lines = lines_of(tmp_path, [named, make_verified(0.3)], as_csv=True)
    pair, finding = csv.DictReader(lines)
    assert (pair["effect_low_selected"], pair["effect_high_selected"], pair["inside_selected"]) == ("", "", "")
    assert (finding["effect_low_selected"], finding["effect_high_selected"]) == ("0.1", "0.7")
    assert "nan" not in ",".join(lines).lower()
