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


def test_a_page_of_another_command_is_replaced_with_a_word(source, store, tmp_path):
    """The table of methods is that of the command that was typed: the same one again says nothing."""

    def published(command):
        lines = []
        made = pipeline(source, store, lines=lines)
        made.reports, made.command = tmp_path, command
        made.run("referee-page")
        return [line.strip() for line in lines if "replaces" in line]

    assert published("datamodels-inf referee --scores one.npy") == []
    told = json.loads((tmp_path / "digits-referee" / "referee.json").read_text())
    assert published(told["provenance"]["Command"]) == []
    told["provenance"]["Command"] = "datamodels-inf referee --scores two.npy"
    (tmp_path / "digits-referee" / "referee.json").write_text(json.dumps(told))
    assert published("datamodels-inf referee --scores one.npy") == [
        "replaces the report of: datamodels-inf referee --scores two.npy"
    ]
