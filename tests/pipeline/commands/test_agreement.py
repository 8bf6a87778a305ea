"""`verify --fresh`: the tables that it prints."""

from datamodels_inf.replication import Replication
from pipeline.commands.agreement import WIDTH, agreement_lines
from pipeline.store.cache import Result
from pipeline.summaries import FreshAgreementSummary, HeldFamily

FINDINGS = Replication(545, 0.9945, 0.984, 1.0, 0.93, 0.98, 527, 0, 0.991, 0.011, 0.024)
OTHERS = Replication(545, 0.703, 0.662, 0.742, 0.96, 0.62, 122, 1)


def lines_of(tmp_path, **changes):
    contrast = HeldFamily(n_tests=2000, n_found=545, findings=FINDINGS, others=OTHERS)
    swap = HeldFamily(n_tests=2000, n_found=0, findings=None, others=OTHERS)
    summary = FreshAgreementSummary(
        **({"n_models": 10_000, "n_splits": 20, "methods": {"contrast": contrast, "swap": swap}} | changes)
    )
    return list(agreement_lines(Result(tmp_path, {"summary": summary.as_json()})))


def test_findings_come_first_and_then_as_many_others(tmp_path):
    lines = lines_of(tmp_path)
    assert lines[0] == "Held against 10,000 fresh models, on masks that no fit and no test has seen"
    words = [line.split() for line in lines]
    first, second = (k for k, line in enumerate(words) if line[:1] == ["contrast"])
    assert lines[first].split()[-6:] == ["1.1", "%", "2.4", "%", "527", "0"]
    assert lines[first - 1].split()[:3] == ["Findings", "compared", "same"]
    assert lines[first + 1] == "Findings: none by swap."
    assert lines[second - 1].startswith("As many other tests")
    assert words[second + 1][0] == "swap"
    assert "false" in lines[first - 1]
    assert "false" not in lines[second - 1]
    assert all(len(line) <= max(WIDTH, len(lines[first - 1])) for line in lines)
    assert not [line for line in lines if "\N{NO-BREAK SPACE}" in line]
    assert "compared" not in lines[-1]


def test_a_sample_is_said_to_be_one(tmp_path):
    atlas = HeldFamily(n_tests=10**6, n_found=300_000, findings=FINDINGS, others=OTHERS)
    assert lines_of(tmp_path, atlas=atlas)[-1] == "atlas: 545 of 300,000 findings are compared."


def test_nothing_found_at_all_leaves_no_empty_table(tmp_path):
    nothing = HeldFamily(n_tests=2000, n_found=0, findings=None, others=OTHERS)
    lines = lines_of(tmp_path, methods={"contrast": nothing})
    assert "Findings: none by contrast." in lines
    assert [line.split()[0] for line in lines if "compared" in line] == ["As"]
