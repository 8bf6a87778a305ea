"""The section `[referee]`: names of methods, and what is refused."""

from pathlib import Path

import pytest

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.settings.referee import ScoreName


@pytest.mark.parametrize(
    ("text", "name", "path"),
    (
        ("lasso", "lasso", None),
        ("scores/trak.mmap", "trak", Path("scores/trak.mmap")),
        ("EK-FAC=kron/pairwise_scores.safetensors", "EK-FAC", Path("kron/pairwise_scores.safetensors")),
        ("a=b=c.npy", "a", Path("b=c.npy")),
    ),
)
def test_names_and_files(text, name, path):
    assert ScoreName.of(text) == ScoreName(name, path)


def test_a_file_whose_own_name_has_an_equals_sign_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("k=5.npy").touch()
    assert ScoreName.of("k=5.npy") == ScoreName("k=5", Path("k=5.npy"))


def referee(*settings):
    return load_config("digits", [f"referee.{setting}" for setting in settings]).referee


def test_nothing_is_refereed_unless_scores_are_named():
    assert not referee().wanted
    assert (referee().k, referee().alpha, referee().correction) == (5, 0.1, "by")
    one = referee("scores=lasso", "negate=lasso")
    assert one.wanted
    assert [method.name for method in one.methods] == ["lasso"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    (
        (["scores=['a/s.npy','b/s.npy']"], "two methods are called 's'; give names as NAME=PATH"),
        (["scores=['<b>=x.npy']"], "'<b>' is no name for a method"),
        (["scores=['lasso']", "negate=['trak']"], "'trak' is none of the methods, lasso"),
        (["correction=prior"], "referee.correction = 'prior'"),
        (["k=0"], "referee.k = 0"),
        (["alpha=1"], "referee.alpha = 1"),
        (["resamples=10"], "referee.resamples = 10"),
        (["score=lasso"], "referee.score is not a setting (did you mean scores?); allowed are scores, k, alpha"),
    ),
)
def test_what_makes_no_sense_is_one_sentence(settings, sentence):
    with pytest.raises(BadInputError) as stopped:
        referee(*settings)
    assert sentence in str(stopped.value)
