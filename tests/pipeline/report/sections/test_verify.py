"""The section "Trained again": images, both intervals on one line, verdicts; and not a byte where it is not shown."""

import json
import math
import re

from report_content import make_rows
from report_page import read_table
from small_trained import make_verified

from pipeline.report.content import TrainedAgain

UNKNOWN = {"effect": math.nan, "effect_se": math.inf, "effect_low": math.nan, "effect_high": math.nan}
ROWS = (
    make_verified(0.5),
    make_verified(-0.5, finding=4, members_i=(1, 3), members_j=(2, 6)),
    make_verified(0.05, finding=None, effect_low_selected=math.nan, effect_high_selected=math.nan),
    make_verified(0.5, **UNKNOWN),
)


def test_every_case_is_shown_with_images_intervals_and_verdict(report):
    folder, page = report(make_rows(6, 3), trained_again=TrainedAgain("paired", 300, 50, ROWS))
    part = page.html[page.html.index('<section id="verify">') :]
    part = part[: part.index("</section>")]
    assert re.findall(r'class="tag (\w+)"', part) == ["confirmed", "reversed", "open", "confirmed"]
    assert part.count('aria-label="image i: dog, train 1"') == 3
    assert part.count('class="mosaic"') == 2
    labels = re.findall(r'aria-label="effects: ([^"]*)"', part)
    assert labels[0].startswith("tested models 0.40 (0.20 to 0.60); fresh models 0.50 (0.30 to 0.70), on a line from −")
    assert labels[3].startswith("fresh models")
    middle = {who: float(x) for x, who in zip(re.findall(r'cx="([\d.]+)"', part), ("tested", "fresh"), strict=False)}
    assert 160 < middle["tested"] < middle["fresh"]
    assert "z = −0.71 between the two" in page.text
    assert "inside the 95 % interval and inside the interval as a finding" in page.text
    assert "was not estimated from the tested models" in page.text
    assert "2 confirmed, 1 open, 1 reversed" in page.text
    table = read_table(folder / "verify.csv")
    assert [row["verdict"] for row in table] == [row.verdict for row in ROWS]
    assert table[1]["members_i"] == "1 3"
    kept = json.loads((folder / "report.json").read_text(encoding="utf-8"))["verify"]
    assert (kept["n_models"], kept["rows"][0]["fresh_effect"]) == (300, 0.5)
    assert kept["rows"][3]["effect"] is None


def test_without_a_finding_a_sentence_and_without_the_stage_nothing(report):
    _, page = report(make_rows(6, 0), trained_again=TrainedAgain("paired", 0, 50, ()))
    assert "There is no finding by paired, so nothing was trained again." in page.text
    folder, page = report(make_rows(6, 3))
    assert "rained again" not in page.html
    assert ".again" not in page.html
    assert not (folder / "verify.csv").exists()
    assert "verify" not in json.loads((folder / "report.json").read_text(encoding="utf-8"))
