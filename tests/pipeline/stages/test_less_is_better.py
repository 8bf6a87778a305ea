"""The same models by their loss, of which less is better: the same pairs, helpers the same images, effects turned.

The images of the second have names, too, which are shown wherever they are.
"""

import csv
import json

import numpy as np
import pytest
from clustered_images import N_FIT, N_TEST, N_TRAIN, TARGETS, write_clusters
from command_here import ok
from pyarrow import parquet

from pipeline.config_files import load_config
from pipeline.images.item_names import ItemNames
from pipeline.run import Pipeline
from pipeline.text.sealed_json import sealed

SETTINGS = (
    f"source.fit_rows={N_FIT}", f"source.held_out_rows={N_TEST}", "fit.n_lambdas=20", "test.design=top",
    "test.targets=[0,4]", "test.k=3", "test.random_partners=2", "test.method=contrast", "atlas.targets=needed",
    "report.max_panels=4",
)  # fmt: skip


NAMES = ItemNames(tuple(f"row {k}" for k in range(N_TRAIN)), tuple(f"patient {k}" for k in range(TARGETS)))


def settings_of(folder):
    own = ("source.kind=files", f"source.folder={folder}", f"source.images={folder / 'images.npz'}")
    return [*own, *SETTINGS, f"report.name={folder.name}"]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Two finished runs: margins, and the same numbers with the other sign, called "loss"."""
    home = tmp_path_factory.mktemp("signs")
    for name in ("margins", "losses"):
        write_clusters(home / name, alike=False)
    outcomes = home / "losses" / "data" / "test_margins_50pct.npy"
    np.save(outcomes, -np.load(outcomes))
    for name in ("margins", "losses"):
        pipeline = Pipeline(
            load_config("digits", settings_of(home / name)), home / name / "data", home / "reports", quiet=True
        )
        downloaded = pipeline.run("download")
        if name == "losses":
            path = downloaded.folder / "manifest.json"
            manifest = json.loads(path.read_text())
            manifest["summary"] |= {"outcome": "loss", "higher_is_better": False, "has_names": True}
            NAMES.save(downloaded.folder / "names.json")
            path.write_text(json.dumps(sealed(manifest)) + "\n")
        pipeline.run("report")
    return home


def rows_of(home, name):
    (path,) = (home / name / "data" / "test").glob("*/tests.parquet")
    return parquet.read_table(path).to_pylist()


def report_of(home, name):
    return json.loads((home / "reports" / name / "report.json").read_text(encoding="utf-8"))


def test_the_design_asks_for_the_same_pairs_and_finds_turned_effects(both):
    margins, losses = rows_of(both, "margins"), rows_of(both, "losses")
    assert [(r["i"], r["j"], r["target"]) for r in margins] == [(r["i"], r["j"], r["target"]) for r in losses]
    effects = np.array([[r["effect"] for r in rows] for rows in (margins, losses)])
    np.testing.assert_allclose(effects[1], -effects[0], rtol=1e-6)
    np.testing.assert_allclose([r["pvalue"] for r in losses], [r["pvalue"] for r in margins], rtol=1e-6)
    helper_raises = np.mean([r["effect"] > 0 for r in margins])
    assert helper_raises > 0.7
    assert np.mean([r["effect"] < 0 for r in losses]) == helper_raises


def test_helpers_and_hurters_are_the_same_images_with_the_same_ranks(both):
    margins, losses = (report_of(both, name)["atlas"] for name in ("margins", "losses"))
    for of_margin, of_loss in zip(margins["targets"], losses["targets"], strict=True):
        for side, sign in (("helpers", 1), ("hurters", -1)):
            for m, loss in zip(of_margin[side], of_loss[side], strict=True):
                assert {name: m[name] for name in ("image", "rank", "rank_low", "rank_high", "finding")} == {
                    name: loss[name] for name in ("image", "rank", "rank_low", "rank_high", "finding")
                }
                assert loss["estimate"] == pytest.approx(-m["estimate"], rel=1e-4)
                assert sign * m["estimate"] > 0 > sign * loss["estimate"]
    of_margins, of_losses = margins["most_influential"], losses["most_influential"]
    names = [[image["image"] for image in of[name]] for of, name in ((of_margins, "doubtful"), (of_losses, "doubtful"))]
    assert names[0] == names[1] != []
    raising, lowering = (sorted(image["image"] for image in of_margins[name]) for name in ("raising", "lowering"))
    assert [sorted(image["image"] for image in of_losses[name]) for name in ("lowering", "raising")] == [
        raising,
        lowering,
    ]


def test_the_page_says_loss_and_what_a_helper_does(both):
    margins, losses = ((both / "reports" / n / "index.html").read_text("utf-8") for n in ("margins", "losses"))
    assert "the loss" not in margins
    assert ">margin" not in losses
    assert "the margin" not in losses
    assert "a helper lowers the loss, a hurter raises it" in losses
    assert "an image that raises the loss on targets of its own class deserves a look at its label" in losses
    assert "Raise the loss on targets of their own class" in losses
    assert "an image that lowers the margin on targets of its own class deserves a look at its label" in margins
    strips = [text.partition('<div class="strips">')[2].partition("strongest hurters")[0] for text in (margins, losses)]
    helpers = [[part.partition('"')[0] for part in text.split('data-image="')[1:]] for text in strips]
    assert helpers[0] == helpers[1] != []
    assert report_of(both, "losses")["unit"] == "loss"
    assert not report_of(both, "losses")["higher_is_better"]


def test_names_are_in_sentences_and_tables_and_only_where_there_are_any(both):
    page = (both / "reports" / "losses" / "index.html").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    first = report_of(both, "losses")["methods"][0]["findings"][0]
    assert f"raining on row {first['i']} ({first['class_i']}, train {first['i']}) instead of row {first['j']}" in page
    for table in ("findings", "tests"):
        with (both / "reports" / "losses" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert [(line["name_i"], line["name_target"]) for line in lines] == [
            (f"row {line['i']}", f"patient {line['target']}") for line in lines
        ]
        assert "name_" not in (both / "reports" / "margins" / f"{table}.csv").read_text().splitlines()[0]
    assert first["name_j"] == f"row {first['j']}"
    assert "name_i" not in report_of(both, "margins")["methods"][0]["findings"][0]


def test_the_commands_say_the_same(both):
    def lines(name, *command):
        settings = [word for setting in settings_of(both / name) for word in ("--set", setting)]
        return ok(both / name, *command[:1], *settings, *command[1:], "--csv")

    margins, losses = (
        list(csv.DictReader(lines(n, "influence", "--target", "0", "--top", "3").splitlines()))
        for n in ("margins", "losses")
    )
    assert [(row["image"], row["rank"]) for row in margins] == [(row["image"], row["rank"]) for row in losses]
    assert all("the loss on patient 0 (cat, target 0)" in row["words"] for row in losses)
    assert [row["name_image"] for row in losses] == [f"row {row['image']}" for row in losses]
    assert {row["name_target"] for row in losses} == {"patient 0"}
    assert "name_image" not in margins[0]
    found = list(csv.DictReader(lines("losses", "findings").splitlines()))
    assert found
    for row in found:
        assert [row[f"name_{side}"] for side in ("i", "j", "target")] == [
            f"row {row['i']}", f"row {row['j']}", f"patient {row['target']}",
        ]  # fmt: skip
        assert f"training on row {row['i']} ({row['class_i']}, train {row['i']}) instead of" in row["words"]
        assert f"the loss on patient {row['target']} (cat, target {row['target']})" in row["words"]
    settings = [word for setting in settings_of(both / "losses") for word in ("--set", setting)]
    text = ok(both / "losses", "influence", *settings, "--target", "0", "--top", "3")
    assert "Strongest helpers, by estimate (training on them lowers the loss):" in text
    assert "Strongest hurters, by estimate (training on them raises the loss):" in text
    assert text.startswith("Target 0 (patient 0): ")
    assert "margin" not in text
