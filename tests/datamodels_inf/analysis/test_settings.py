"""Names and defaults are those of the pipeline, and what cannot be is refused."""

import pytest

from datamodels_inf.analysis.settings import Settings, as_names
from pipeline.config import Fit, Source, Test


def test_defaults_are_those_of_the_pipeline():
    mine, test, source = Settings(), Test(), Source()
    shared = ("alpha", "correction", "tau", "order", "seed", "rows", "blocks", "k", "random_partners")
    assert {name: getattr(mine, name) for name in shared} == {name: getattr(test, name) for name in shared}
    assert (list(mine.method), list(mine.versus)) == (test.method, test.versus)
    assert mine.allow_unexchangeable == test.allow_unexchangeable
    assert (mine.fit_rows, mine.held_out_rows, mine.first_rows) == (None, None, source.first_rows)
    assert mine.calibrate == Fit().calibrate


@pytest.mark.parametrize(
    ("given", "words"),
    (
        ({"method": ("swop",)}, "`method` must be one of 'swap'"),
        ({"method": ("swap", "swap")}, "none twice"),
        ({"method": ()}, "at least one"),
        ({"alpha": 1.0}, "`alpha`"),
        ({"correction": "none"}, "`correction` must be one of"),
        ({"correction": "prior"}, "needs a prior, which only `datamodels-inf run` makes; choose 'by', 'bh'"),
        ({"tau": 0.1, "method": ("contrast",)}, "needs tau = 0"),
        ({"tau": -0.1}, "`tau`"),
        ({"order": "random"}, "`order`"),
        ({"seed": -1}, "`seed`"),
        ({"versus": ("helpers", "helpers")}, "`versus` must not name a comparison twice"),
        ({"versus": ("helpers",), "k": 1}, "`k` must be at least 2"),
        ({"rows": "all"}, "`rows`"),
        ({"fit_rows": 0}, "`fit_rows`"),
        ({"held_out_rows": 2}, "`held_out_rows`"),
        ({"higher_is_better": "no"}, "`higher_is_better` must be True or False, but it is 'no'"),
        ({"calibrate": 1}, "`calibrate` must be True or False"),
        ({"allow_unexchangeable": None}, "`allow_unexchangeable` must be True or False"),
        ({"outcome": 5}, "`outcome` must be a text, but it is 5"),
        ({"k": 2.5}, "`k` must be a whole number"),
        ({"random_partners": "5"}, "`random_partners` must be a whole number"),
        ({"blocks": 2}, "`blocks` is not for rows = 'held-out'"),
        ({"rows": "progressive", "fit_rows": 5}, "`fit_rows` is not for rows = 'progressive'"),
    ),
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Settings(**given)


def test_only_what_was_given_is_told():
    assert Settings().as_text() == ""
    assert Settings(seed=3, outcome="loss").as_text() == "seed=3, outcome='loss'"
    assert (as_names("m", "swap"), as_names("m", ["swap", "paired"])) == (("swap",), ("swap", "paired"))
    for wrong in (5, None, [5], b"swap"):
        with pytest.raises(ValueError, match="`m` must be a name, or several, but it"):
            as_names("m", wrong)
