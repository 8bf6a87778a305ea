"""`findings` and `compare`, the real commands on the embedded set."""

import re
import shlex
import shutil
import subprocess

import pytest
from command_here import call, ok
from pyarrow import parquet
from real_command import COMMAND, SMALL
from three_methods import HARMONIC, METHODS, SETTINGS, key, longer, parsed


def test_the_csv_holds_all_findings_with_their_numbers_and_words(folder, rows):
    found = parsed(ok(folder, "findings", *SETTINGS, "--csv"))
    expected = {key(r): r for r in rows if r["adjusted"] <= 0.2}
    assert {key(r) for r in found} == expected.keys()
    assert len(found) == len(expected) > 100
    assert [r["method"] for r in found] == sorted((r["method"] for r in found), key=METHODS.index)
    count = {method: sum(r["method"] == method for r in found) for method in METHODS}
    for row in found:
        source = expected[key(row)]
        assert float(row["pvalue_adjusted"]) == pytest.approx(source["adjusted"], rel=1e-8)
        for name in ("pvalue", "statistic", "effect", "effect_low", "effect_high", "theta_i"):
            assert float(row[name]) == pytest.approx(source[name], rel=1e-8)
        verb = "raises" if source["effect"] >= 0 else "lowers"
        assert row["words"].startswith(
            f"training on {source['class_i']} (train {source['i']}) instead of {source['class_j']} "
            f"(train {source['j']}) {verb} the margin on 3 (target {source['target']}) by {abs(source['effect']):.3g}, "
        )
        low, high = longer(source, 0.2 * count[row["method"]] / (500 * HARMONIC))
        assert low < source["effect_low"] < source["effect_high"] < high
        assert float(row["effect_low_selected"]) == pytest.approx(low, rel=1e-8)
        assert float(row["effect_high_selected"]) == pytest.approx(high, rel=1e-8)
        ends = (low, high) if source["effect"] >= 0 else (-high, -low)
        assert row["words"].endswith(f"; {ends[0]:.3g} to {ends[1]:.3g} as one of {count[row['method']]} findings")


@pytest.mark.parametrize(("sort", "order"), [
    ("p", lambda r: float(r["pvalue"])),
    ("effect", lambda r: -abs(float(r["effect"]))),
    ("target", lambda r: int(r["target"])),
])  # fmt: skip
def test_sorted(folder, sort, order):
    found = parsed(ok(folder, "findings", *SETTINGS, "--csv", "--sort", sort, "--method", "contrast"))
    assert [order(r) for r in found] == sorted(map(order, found))
    assert {r["method"] for r in found} == {"contrast"}
    assert len({order(r) for r in found}) > 1
    by_number = sorted(found, key=lambda r: int(r["number"]))
    assert [float(r["pvalue"]) for r in by_number] == sorted(float(r["pvalue"]) for r in found)


def test_a_class_may_be_that_of_either_image_or_of_the_target(folder):
    everything = parsed(ok(folder, "findings", *SETTINGS, "--csv"))
    assert parsed(ok(folder, "findings", *SETTINGS, "--csv", "--class", "3")) == everything  # The targets' class.
    eights = parsed(ok(folder, "findings", *SETTINGS, "--csv", "--class", "8"))
    assert eights == [r for r in everything if "8" in (r["class_i"], r["class_j"])]
    assert {r["class_i"] == "8" for r in eights} == {True, False}


def test_the_table_is_aligned_and_says_what_was_found(folder, rows):
    lines = ok(folder, "findings", *SETTINGS, "--method", "paired").splitlines()
    count = sum(r["adjusted"] <= 0.2 for r in rows if r["method"] == "paired")
    assert lines[0] == (
        f"paired: {count} of 500 pairs influence their target differently, "
        "at a false discovery rate of 0.2 (Benjamini–Yekutieli over 500 tests); tested on 4,000 held-out models"
    )
    blind = re.fullmatch(r"(\d+) of the 500 pairs cannot be seen by it \(θ̂_i = θ̂_j: the .*\)", lines.pop(1))[1]
    assert (
        lines.pop(1) == f"The method contrast, which was run too, sees also the {blind} pairs that have equal weights"
    )
    level = 100 * (1 - 0.2 * count / (500 * HARMONIC))
    said = re.fullmatch(
        r"95 % interval: for a pair named in advance\. As a finding \(([\d.]+) %\): the expected share of findings "
        r"whose interval misses the effect is at most 0\.2, however the tests depend on each other", lines[1],
    )  # fmt: skip
    assert float(said[1]) == pytest.approx(level, abs=0.05)
    header, *body = lines[2:-1]
    assert len(body) == 2 * count
    numbers, words = body[::2], body[1::2]
    assert all(line.startswith("    training on ") for line in words)
    for name in ("j (class)", "target (class)", "p  ", "adjusted p", "effect", "95 % interval", "as a finding"):
        place = header.index(name)
        assert all(line[place - 1] == " " and line[place] != " " for line in numbers), name
    best = min((r for r in rows if r["method"] == "paired"), key=lambda r: r["pvalue"])
    expected = ["1", str(best["i"]), f"({best['class_i']})", str(best["j"]), f"({best['class_j']})"]
    assert numbers[0].split()[:5] == expected
    assert [int(line.split()[0]) for line in numbers] == list(range(1, count + 1))
    low, high = longer(best, 0.2 * count / (500 * HARMONIC))
    assert numbers[0].endswith(f"  {low:.3g} to {high:.3g}")


def test_compare_counts_findings_and_their_overlap(folder, rows):
    lines = ok(folder, "compare", *SETTINGS).splitlines()
    assert lines[0].startswith("Of 500 pairs, so many influence their target differently, at a false discovery rate")
    found = {m: {key(r)[1:] for r in rows if r["method"] == m and r["adjusted"] <= 0.2} for m in METHODS}
    table = {line.split()[0]: line.split()[1:] for line in lines[3:6]}
    assert list(table) == list(METHODS)
    for method, cells in table.items():
        others = set().union(*(found[m] for m in METHODS if m != method))
        common = ["–" if m == method else str(len(found[method] & found[m])) for m in METHODS]
        assert cells == ["4,000", str(len(found[method])), str(len(found[method] - others)), *common]
    blind = sum(r["theta_i"] == r["theta_j"] for r in rows if r["method"] == "swap")
    assert f"Counted, but not really tested: {blind} pairs by swap, paired (θ̂_i = θ̂_j" in lines[-1]


def test_one_method_alone(folder, tmp_path):
    shutil.copytree(folder / "data", tmp_path / "data")
    alone = (*SETTINGS[2:], "--set", "test.method=swap")
    ok(tmp_path, "test", *alone)
    assert "Only one method was run" in ok(tmp_path, "compare", *alone)
    none = ok(tmp_path, "findings", *alone, "--set", "test.alpha=1e-300")
    assert none.splitlines()[0].startswith("swap: 0 of 500 pairs influence")
    assert "interval" not in none


def test_findings_can_be_tested_again_as_a_list(folder, tmp_path):
    shutil.copytree(folder / "data", tmp_path / "data")
    (tmp_path / "found.csv").write_text(ok(folder, "findings", *SETTINGS, "--csv"))
    again = ("--set", "test.design=list", "--set", "test.file=found.csv", "--set", "fit.n_lambdas=10")
    ok(tmp_path, "test", *again, "--set", 'test.method="contrast"', "--set", "fit.targets='3'")
    (path,) = (p for p in tmp_path.glob("data/test/*/design.parquet")
               if parquet.read_table(p)["kind"][0].as_py() == "list")  # fmt: skip
    pairs = {(int(r["i"]), int(r["j"]), int(r["target"])) for r in parsed((tmp_path / "found.csv").read_text())}
    assert parquet.read_metadata(path).num_rows == len(pairs)


def test_a_reader_who_has_had_enough_is_no_error(folder):
    process = subprocess.Popen(
        [*COMMAND, "findings", *SETTINGS], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


@pytest.mark.parametrize(("arguments", "part"), [
    (("--method", "swap-exact"), "--method swap-exact was not run; this configuration has swap, paired, contrast"),
    (("--method", "magic"), "'magic' is not one of"),
    (("--class", "yak"), "--class yak is no class of this data; there are 0, 1, 2"),
    (("--sort", "size"), "'size' is not one of"),
])  # fmt: skip
def test_bad_input_is_one_sentence(folder, arguments, part):
    done = call(folder, "findings", *SETTINGS, *arguments)
    assert done.returncode == 2
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


def test_on_some_targets_and_the_first_so_many(folder):
    everything = parsed(ok(folder, "findings", *SETTINGS, "--csv", "--sort", "effect"))
    one, two = sorted({r["target"] for r in everything}, key=int)[:2]
    words = ("findings", *SETTINGS, "--sort", "effect")
    on_one = parsed(ok(folder, *words, "--csv", "--target", one))
    assert on_one == [r for r in everything if r["target"] == one] != []
    on_both = parsed(ok(folder, *words, "--csv", "--target", two, "--target", one))
    assert on_both == [r for r in everything if r["target"] in (one, two)]
    first = parsed(ok(folder, *words, "--csv", "--limit", 2, "--method", "contrast", "--target", one))
    assert first == [r for r in on_one if r["method"] == "contrast"][:2]
    assert parsed(ok(folder, *words, "--csv", "--target", "3:0")) == on_one  # All targets are threes.
    said = ok(folder, *words, "--method", "contrast", "--target", one, "--limit", 2)
    n = sum(r["method"] == "contrast" for r in on_one)
    assert f"\n{n} of them on target {one}\nthe first 2 of {n}:\n" in said
    assert said.count("training on ") == 2
    assert f"\nthe first of {n}:\n" in ok(folder, *words, "--method", "contrast", "--target", one, "--limit", 1)


@pytest.mark.parametrize(("target", "said"), [
    ("9999", "--target 9999: there is no target 9999: they go from 0 to 119."),
    ("3:99", "--target 3:99: class 3 has 12 targets, so there is no 3:99."),
    ("bmi", "--target bmi: 'bmi' is not an image"),
])  # fmt: skip
def test_a_target_that_is_not_there(folder, target, said):
    done = call(folder, "findings", *SETTINGS, "--target", target)
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr


def test_where_nothing_was_found_the_method_that_sees_effects_is_named(small_run):
    strict = (*SMALL, "--set", "test.alpha=0.0005")
    command = re.search(
        r"the method contrast sees such \(.*\): datamodels-inf (.*)", ok(small_run, "findings", *strict)
    )
    *_, told, place = (line.strip() for line in ok(small_run, "run", *strict).splitlines() if "replaces" not in line)
    assert told.endswith(command[0]) and place.startswith("report   ")
    ok(small_run, *shlex.split(command[1]))
    again = ok(small_run, "findings", *shlex.split(command[1])[1:])
    assert int(re.match(r"contrast: (\d+) of 100 pairs", again)[1]) > 0
    assert "sees such" not in again
    assert "sees such" not in ok(small_run, "findings", *SMALL)  # There is a finding.
    assert "swap: 1 of 100 pairs influences its target differently" in ok(small_run, "findings", *SMALL)
