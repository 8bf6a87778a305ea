"""Reports in their place: never over another configuration's without a word."""

import json
import shutil
import subprocess
import sys

import pytest
from command_here import call, ok
from real_command import SMALL, states

STRICT = (*SMALL, "--set", "test.alpha=0.1")
PLACE = "report   reports/digits/index.html"


def last_lines(output):
    return [line.strip() for line in output.splitlines()[-2:]]


def test_a_report_of_another_configuration_is_replaced_with_a_word(small_run):
    replaced, place = last_lines(ok(small_run, "run", *STRICT))
    assert place == PLACE
    assert replaced.startswith("replaces the report of: datamodels-inf run --config digits --set 'fit.targets=[0,3,")
    assert "alpha" not in replaced
    replaced, place = last_lines(ok(small_run, "run", *SMALL))
    assert replaced.startswith("replaces the report of: ") and "--set test.alpha=0.1" in replaced
    assert "replaces" not in ok(small_run, "run", *SMALL)
    shown = ok(small_run, "run", *SMALL, "--set", "report.max_panels=1")  # The same findings.
    assert "replaces" not in shown and PLACE in shown


def test_a_variation_without_a_name_has_a_folder_of_its_own(small_run):
    before = (small_run / "reports" / "digits" / "report.json").read_bytes()
    output = ok(small_run, "run", *STRICT, "--set", "report.name=")
    assert last_lines(output)[-1].startswith("report   reports/digits-fit-targets-0-3-13-20-30-")
    assert "replaces" not in output
    assert (small_run / "reports" / "digits" / "report.json").read_bytes() == before


@pytest.mark.parametrize("left", ("{", "{}", '{"configuration": "[test]\\nalfa = 1", "provenance": {}}', None))
def test_what_does_not_say_what_it_is_is_an_older_report(small_run, left):
    home = small_run / "reports" / "digits"
    (home / "index.html").write_text("older")
    if left is None:
        (home / "report.json").unlink()
    else:
        (home / "report.json").write_text(left)
    assert last_lines(ok(small_run, "run", *SMALL)) == ["replaces an older report in reports/digits", PLACE]


def test_a_report_before_there_was_a_setting_is_still_the_same_one(small_run):
    home = small_run / "reports" / "digits"
    told = json.loads((home / "report.json").read_text())
    told["configuration"] = told["configuration"].replace("tau = 0.0\n", "")
    (home / "report.json").write_text(json.dumps(told))
    assert "replaces" not in ok(small_run, "run", *SMALL)


def harm(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("name", ("index.html", "report.json", "tests.csv", ".files"))
@pytest.mark.parametrize("gone", (False, True))
def test_a_file_that_is_no_longer_as_it_was_published_is_named(small_run, name, gone):
    file = small_run / "reports" / "digits" / name
    before = file.read_bytes()
    file.unlink() if gone else harm(file)
    said = "missing" if gone else "not as it was published"
    assert last_lines(ok(small_run, "run", *SMALL)) == [f"reports/digits/{name} is {said}: copied again", PLACE]
    assert file.read_bytes() == before
    assert "copied again" not in ok(small_run, "run", *SMALL)


def test_of_many_damaged_files_three_are_named_and_panels_that_were_asked_for_stay(small_run):
    home = small_run / "reports" / "digits"
    (home / "panels" / "asked.html").write_text("a panel")
    with (home / ".files").open("a") as listed:
        listed.write("panels/asked.html\n")
    harmed = sorted(home.glob("*.csv"))
    assert len(harmed) > 3
    for file in harmed:
        harm(file)
    said = last_lines(ok(small_run, "run", *SMALL))[0]
    assert said.endswith(f" and {len(harmed) - 3} more are not as they were published: copied again")
    assert (home / "panels" / "asked.html").is_file() and "asked" in (home / ".files").read_text()


def test_a_folder_that_was_deleted_or_is_of_an_earlier_version_is_not_called_damaged(small_run):
    home = small_run / "reports" / "digits"
    shutil.rmtree(home)
    assert "copied again" not in ok(small_run, "run", *SMALL)
    names = (home / ".files").read_text().partition("\n")[2]
    (home / ".files").write_text(names)  # As it was before there was a mark.
    assert "copied again" not in ok(small_run, "run", *SMALL)
    assert (home / ".files").read_text().endswith(f"\n{names}")


def status_of_report(folder, *words):
    (line,) = (line for line in ok(folder, "status", *words).splitlines() if line.startswith("  report"))
    return line


def test_status_knows_what_the_folder_holds(small_run):
    assert status_of_report(small_run, *SMALL).endswith("; in reports/digits")
    ok(small_run, "run", *STRICT)
    said = status_of_report(small_run, *SMALL)
    assert "cached" in said and said.endswith("; but reports/digits holds another one; run publishes it again")
    assert states(ok(small_run, "run", *SMALL))["report"] == "cached"
    assert status_of_report(small_run, *SMALL).endswith("; in reports/digits")
    (small_run / "reports" / "digits" / "tests.csv").write_text("harmed")
    assert "reports/digits holds an older one; run publishes it again" in status_of_report(small_run, *SMALL)
    shutil.rmtree(small_run / "reports")
    assert status_of_report(small_run, *SMALL).endswith("; but reports/digits holds none; run publishes it")


def test_a_list_of_files_leads_nowhere_else(small_run):
    home, dear = small_run / "reports" / "digits", small_run / "dear.txt"
    dear.write_text("dear")
    (home / "old.csv").write_text("ours, of an older report")
    (home / ".part-kept").mkdir()
    with (home / ".files").open("ab") as listed:
        listed.write(f"../../dear.txt\n{dear}\nold.csv\n\n".encode() + b"\xff\n")
    ok(small_run, "run", *STRICT)
    assert dear.read_text() == "dear" and not (home / "old.csv").exists() and (home / ".part-kept").is_dir()


def block(home, how):
    if how == "a file":
        home.write_text("mine")
    elif how == "a link to nothing":
        home.symlink_to("gone")
    elif how == "panels":
        home.mkdir()
        (home / how).write_text("mine")
    else:
        (home / how).mkdir(parents=True)


@pytest.mark.parametrize("how", ("a file", "a link to nothing", "index.html", ".files", "tests.csv", "panels"))
def test_a_place_that_is_taken_is_refused_before_any_stage_runs(tmp_path, how):
    (tmp_path / "reports").mkdir()
    block(tmp_path / "reports" / "digits", how)
    done = call(tmp_path, "run", *SMALL)
    assert done.returncode == 2 and how in done.stderr and "set report.name" in done.stderr
    assert "running" not in done.stdout and not list((tmp_path / "data").glob("*/*"))


def test_two_stores_may_publish_to_one_folder_at_a_time(small_run):
    """Neither takes what the other is about to write for a leftover."""
    code = f"""
from pathlib import Path
from pipeline.config_files import load_config
from pipeline.published import publish
from pipeline.run import Pipeline
config = load_config("digits", {list(SMALL[1::2])!r})
pipeline = Pipeline(config, Path("data"), Path("reports"))
found = pipeline.finished([name for name, _ in pipeline.specs()], "run")
for _ in range(40):
    (Path("shared") / "index.html").unlink(missing_ok=True)
    list(publish(found["report"], Path("shared"), config, "run"))
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", code], cwd=small_run, stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert [(process.communicate()[1].decode(), process.returncode) for process in processes] == [("", 0)] * 2
    assert not list((small_run / "shared").rglob(".part-*"))
