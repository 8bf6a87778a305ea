"""The page is published beside the report, and made again when what it says changes."""

import json

from small_refereed import pipeline


def test_it_has_a_folder_of_its_own(source, store):
    home = store / "reports" / "digits-referee"
    pipeline(source, store).run("referee-page")
    names = {path.name for path in home.iterdir()} - {".files"}
    assert names == {"index.html", "methods.csv", "claims.csv", "contradictions.csv", "referee.json"}
    assert not (store / "reports" / "digits").exists()
    assert (home / "index.html").stat().st_size < 1_000_000


def test_what_the_user_says_of_the_scores_makes_the_page_again_and_not_the_tests(source, store):
    lines = []
    pipeline(source, store, "referee.unseen=true", "report.name=other", lines=lines).run("referee-page")
    assert any(line.startswith("referee   cached") for line in lines)
    assert any(line.startswith("referee-page running") for line in lines)
    said = json.loads((store / "reports" / "other-referee" / "referee.json").read_text())
    assert said["scores_have_seen_tested_models"] == "no, says the user"
    assert said["provenance"]["Command"] == "made here"
    keys = dict(pipeline(source, store).specs())
    assert said["provenance"]["Stage referee"].startswith(keys["referee"].key)
