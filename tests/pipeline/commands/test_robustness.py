"""`robustness`: the table it prints, and what cannot be asked together."""

import json

from clustered_images import settings
from command_here import call, ok


def test_the_command_prints_the_table_and_a_second_run_is_cached(clusters, tmp_path):
    options = [word for setting in settings(clusters / "alike") for word in ("--set", setting)]
    command = ("robustness", *options, "--pair", "cat:3", "7", "--n-targets", "2", "--neighbours", "3")
    out = ok(tmp_path, *command)
    assert "Pair: training image 3 against 7, contrast, by pixels" in out
    assert "valid if the pair was chosen before looking at these models" in out
    (manifest,) = (tmp_path / "data" / "robustness").glob("*/manifest.json")
    case = json.loads(manifest.read_text())["summary"]["cases"][0]
    lines = out.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:2] == ["i", "j"])
    assert lines[head].split()[2:] == [word for t in case["targets"] for word in ("target", str(t))]
    assert lines[head + 1].split()[:2] == ["3", "7"]
    near = zip(case["near"]["i"]["images"], case["near"]["j"]["images"], strict=True)
    assert [line.split()[:2] for line in lines[head + 2 : head + 5]] == [[str(i), str(j)] for i, j in near]
    same_sign = case["agreement"]["neighbour"]["same_sign"]
    assert any(line.split()[-3:-2] == [f"{same_sign:.0%}"] for line in lines if "look-alikes of both images" in line)
    assert "robustness cached" in ok(tmp_path, *command)
    finding = ok(tmp_path, "robustness", *options, "--finding", "2", "--quiet")
    assert finding.startswith("Finding 2: ")
    assert "Follow-up" in finding
    both = call(tmp_path, "robustness", *options, "--finding", "2", "--pair", "1", "2")
    assert both.returncode == 2
    assert "--finding and --pair cannot both be given" in both.stderr
