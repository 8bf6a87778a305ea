"""`datamodels-inf referee`: what it asks for, prints and refuses."""

import csv
import io
import re

import pytest
from command_here import call, ok
from small_refereed import settings, write_source

from datamodels_inf.refereeing.verdicts import VERDICTS
from pipeline.commands.referee import HEADER, asked_settings, decided_lines, referee_lines
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.store.cache import Result
from pipeline.summaries import Decided, Figure, MethodFigures, RefereeSummary


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder to work in, with the source in it."""
    folder = tmp_path_factory.mktemp("command")
    write_source(folder / "cifar")
    return folder


def words(place):
    own = [setting for setting in settings(place / "cifar") if not setting.startswith("referee.")]
    return [word for setting in own for word in ("--set", setting)]


SCORES = ("--scores", "cifar/good.npy", "--scores", "other way=cifar/turned.npy", "--scores", "lasso")


def test_it_prints_a_table_and_warns_of_what_it_cannot_see(place):
    output = ok(place, "referee", *words(place), *SCORES)
    lines = output.splitlines()
    header = next(line for line in lines if line.startswith("method "))
    assert header.split()[:5] == ["method", "claims", "confirmed", "unproven", "reversed"]
    assert any(line.startswith("other way ") for line in lines)
    assert "Reversed most: other way" in output
    flowing = " ".join(output.split())
    assert "its sign may be turned" in flowing
    assert "The referee cannot see how scores were made." in flowing
    assert "say so with --unseen." in flowing
    assert (place / "reports" / "digits-referee" / "index.html").is_file()
    page = (place / "reports" / "digits-referee" / "index.html").read_text()
    assert "datamodels-inf referee --config digits" in page


def test_unseen_and_negate_are_taken_at_the_users_word(place):
    output = ok(place, "referee", *words(place), *SCORES, "--unseen", "--negate", "other way")
    assert "The referee cannot see" not in output
    assert "The user says that no tested model was used" in output
    assert "sign may be turned" not in output
    assert "No claim of any method is reversed" in output or "Reversed most: other way" not in output


def test_csv_is_all_claims_and_nothing_else_on_standard_output(place):
    done = call(place, "referee", *words(place), *SCORES, "--csv")
    assert done.returncode == 0
    assert "referee" in done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["method"] for row in rows} == {"good", "other way", "lasso"}
    assert {row["verdict"] for row in rows} <= {"confirmed", "unproven", "reversed", "untested"}


def test_options_become_settings():
    asked = {"scores": ("a=b.npy", "lasso"), "k": 3, "alpha": None, "negate": ("a",), "unseen": True, "seed": 0}
    own = load_config("digits", asked_settings("digits", (), asked)).referee
    assert (own.scores, own.k, own.alpha, own.negate, own.unseen, own.seed) == (
        ("a=b.npy", "lasso"),
        3,
        0.1,
        ("a",),
        True,
        0,
    )


@pytest.mark.parametrize("seed", (0, 7))
def test_a_seed_of_nothing_is_still_asked_for(seed):
    asked = {"scores": ("lasso",), "seed": seed, "alpha": None}
    assert load_config("digits", asked_settings("digits", ("referee.seed=5",), asked)).referee.seed == seed


def test_a_level_of_nothing_is_refused_and_not_passed_over():
    with pytest.raises(BadInputError, match=r"referee\.alpha = 0\.0"):
        asked_settings("digits", (), {"scores": ("lasso",), "alpha": 0.0})


def of_method(name, notes=()):
    counts = dict(zip(VERDICTS, (11, 22, 33, 44), strict=True))
    figure = Figure(value=0.25, low=0.125, high=0.5)
    return MethodFigures(
        name=name, source=f"{name}.npy", n_claims=110, n_silent=0, verdicts=counts, kinds={}, lds=figure, r2=figure,
        fit_correlation=0.5, negated=False, notes=notes,
    )  # fmt: skip


@pytest.mark.parametrize("higher", (True, False))
def test_each_verdict_has_its_column_and_what_help_means_is_said(tmp_path, higher):
    said = RefereeSummary(
        methods=(of_method("a", ("it was turned", "two modules were added up")), of_method("b")), decided=(),
        n_contradictions=0, n_models=100, n_fit=50, n_train=20, n_targets=4, n_predicted=4, n_blocks=1, k=5, alpha=0.1,
        correction="by", seed=0, resamples=500, outcome="loss", higher_is_better=higher,
    )  # fmt: skip
    lines = list(referee_lines(Result(tmp_path, {"summary": said.as_json()}), unseen=False))
    assert f"An image helps a target where training on it {'raises' if higher else 'lowers'} the loss." in lines
    assert lines.index("a: it was turned.") + 1 == lines.index("a: two modules were added up.")
    header, *rows = (re.split(r"  +", line.strip()) for line in lines if line.startswith(("method ", "a  ", "b  ")))
    assert header == list(HEADER)
    assert header[5] == "not testable"
    assert [row[:6] for row in rows] == [[name, "110", "11", "22", "33", "44"] for name in "ab"]


BAD = {
    "no scores": ((), "name the scores to referee, such as --scores trak.npy --scores lasso"),
    "no file": (("--scores", "none.npy"), "referee.scores none.npy does not exist"),
    "not scores": (("--scores", "cifar/images.npz"), "referee.scores cifar/images.npz is not a file of weights"),
    "twice": (("--scores", "lasso", "--scores", "lasso"), "two methods are called 'lasso'"),
    "whom": (("--scores", "lasso", "--negate", "trak"), "'trak' is none of the methods"),
    "level": (("--scores", "lasso", "--alpha", "2"), "referee.alpha = 2.0"),
    "prior": (("--scores", "lasso", "--correction", "prior"), "'prior' is not one of 'by'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(place, case):
    more, sentence = BAD[case]
    done = call(place, "referee", *words(place), *more)
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_of_many_pairs_of_methods_those_with_most_decided_are_told():
    decided = [Decided(first="a", second=f"m{k}", first_right=k, second_right=2 * k) for k in range(8)]
    *told, last = decided_lines(decided)
    assert [line.split()[3] for line in told] == ["m7", "m6", "m5", "m4", "m3"]
    assert told[0].endswith("a is right on 7 and m7 on 14.")
    assert last == "And so of 2 more pairs of methods: on the page, and in referee.json."  # Nothing is decided of m0.
    assert len(list(decided_lines(decided[:6]))) == 5
