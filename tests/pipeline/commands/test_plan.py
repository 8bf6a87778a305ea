"""`plan`: its figures are the library's, and what it refuses."""

import re
from pathlib import Path

import pytest
from command_here import call, ok

from datamodels_inf.methods import METHODS
from datamodels_inf.planning import detectable_effect, plan
from datamodels_inf.row_planning import models_to_train, rows_by_method

USUAL = {"alpha": 1e-4, "power": 0.8}
PAGE = Path(__file__).parents[3] / "docs" / "planning.md"
DIGITS = ("--models", 12_000, "--images", 400)
FITTED, HELD_OUT = ("--fit-rows", 8000), ("--held-out-rows", 4000)


def cells(output, title):
    """{method: its figures} of the table below the line that begins with `title`."""
    lines = output[output.index(title) :].splitlines()
    rows = [line.split() for line in lines[1:]]
    names = [row[0] for row in rows]
    return {name: [float(cell.replace(",", "")) for cell in rows[names.index(name)][1:]] for name in METHODS}


def test_without_images_only_the_models_that_test_are_known(tmp_path):
    output = ok(tmp_path, "plan", "--effect", 0.5, "--noise", 2)
    assert output.startswith("Held-out models needed for effect 0.5, noise 2, level 0.0001, power 0.8:\n")
    assert cells(output, "Held-out") == {
        name: [count] for name, count in plan(effect=0.5, noise=2.0, **USUAL).figures.items()
    }
    assert len(output.splitlines()) == 1 + len(METHODS)


def test_with_images_also_those_to_train_both_ways(tmp_path):
    output = ok(tmp_path, "plan", "--effect", 0.5, "--images", 400)
    needed = plan(effect=0.5, **USUAL)
    ways = [models_to_train(way, needed, 400) for way in ("held-out", "progressive")]
    assert cells(output, "Models of 400 images needed") == {
        name: [needed[name], *(way[name] for way in ways)] for name in METHODS
    }
    assert "by swap and swap-exact, the last block alone" in output
    assert "Noise is taken as that of a fit of all models" in output


@pytest.mark.parametrize(
    ("split", "held_out"), [((*FITTED, *HELD_OUT), 4000), (FITTED, 4000), (HELD_OUT, 4000), ((), 10_451)]
)
def test_with_models_what_they_find_both_ways(tmp_path, split, held_out):
    output = ok(tmp_path, "plan", *DIGITS, *split, "--noise", 0.5)
    assert f"held-out: {12_000 - held_out:,} fitted and {held_out:,} tested; progressive: the first 240 " in output
    rows = dict.fromkeys(METHODS, held_out), rows_by_method("progressive", 12_000, 400)
    first, second = (detectable_effect(some, noise=0.5, **USUAL) for some in rows)
    for name, (n_first, low, n_second, high, gain) in cells(output, "Smallest effects").items():
        assert (n_first, n_second) == (held_out, 2438 if name.startswith("swap") else 11_760)
        assert (low, high) == (pytest.approx(first[name], rel=5e-3), pytest.approx(second[name], rel=5e-3))
        assert gain == pytest.approx(first[name] / second[name], abs=0.006)


def test_the_page_on_planning_shows_what_is_printed(tmp_path):
    shown = re.findall(r"\$ datamodels-inf (plan .+)\n((?:.+\n)+?)(?:…\n)?```", PAGE.read_text(encoding="utf-8"))
    assert len(shown) == 2
    for words, lines in shown:
        assert ok(tmp_path, *words.split()).startswith(lines)


def test_both_questions_at_once_and_what_is_out_of_reach(tmp_path):
    output = ok(tmp_path, "plan", "--effect", 2, "--models", 60, "--images", 400)
    assert (
        output.index("Models of 400 images") < output.index("Smallest effects that 60 models") < output.index("Noise")
    )
    assert re.search(r"\n  swap +40 +none +40 +none\n", output)


@pytest.mark.parametrize(("given", "sentence"), [
    ((), "give --effect, to learn how many models find it, or --models, to learn what they find."),
    (("--images", 400), "give --effect, to learn how many models find it, or --models, to learn what they find."),
    (("--models", 400), "--models needs --images, the number of training images."),
    (("--effect", 1, "--fit-rows", 9), "--fit-rows and --held-out-rows need --models, which they divide."),
    (("--models", 39, "--images", 9), "--models must be a whole number of at least 40, but it is 39."),
    (("--effect", 1, "--images", 1), "--images must be a whole number of at least 2, but it is 1."),
    (("--models", 99, "--images", 9, "--fit-rows", 99),
     "--models 99 cannot be divided into 99 for the fit and 0 held out; change --fit-rows or --held-out-rows."),
    (("--models", 99, "--images", 9, "--held-out-rows", 99),
     "--models 99 cannot be divided into 0 for the fit and 99 held out; change --fit-rows or --held-out-rows."),
    (("--models", 99, "--images", 9, "--fit-rows", 50, "--held-out-rows", 50),
     "--models 99 cannot be divided into 50 for the fit and 50 held out; change --fit-rows or --held-out-rows."),
    (("--effect", 1, "--models", 99, "--images", 9, "--power", 0.1, "--alpha", 0.2),
     "--power must be larger than --alpha, but they are 0.1 and 0.2."),
    (("--models", 99, "--images", 9, "--noise", -1), "--noise must be a finite number above 0, but it is -1.0."),
    (("--effect", 1, "--alpha", 5e-324), "--alpha must be at least 1e-300, but it is 5e-324."),
    (("--models", 99, "--images", 9, "--noise", 5e-324),
     "--noise must lie between 1e-300 and 1e+300, but it is 5e-324."),
    (("--effect", 1, "--proportion", 5e-324),
     "--proportion must lie between 1e-09 and 1 less that, but it is 5e-324."),
    (("--models", 10**12, "--images", 10), "--models must be at most 100,000,000."),
    (("--models", 10**30, "--images", 10), "--models must be at most 100,000,000."),
    (("--effect", "much"),
     "Invalid value for '--effect': 'much' is not a valid float; see datamodels-inf plan --help."),
])  # fmt: skip
def test_bad_options_are_one_sentence(tmp_path, given, sentence):
    done = call(tmp_path, "plan", *given)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"datamodels-inf: {sentence}\n")
