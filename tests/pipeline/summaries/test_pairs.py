"""What the report says of its result; the words of every summary, and its way through a manifest: test_base.py."""

from pipeline.summaries import ReportSummary


def test_what_several_methods_cannot_see_is_said_once():
    found = {"swap": 39, "swap-exact": 40, "paired": 1, "contrast": 64}
    unseen = {"swap": 177, "swap-exact": 177, "paired": 177}
    told = ReportSummary(n_tests=8000, n_findings=found, n_unseen=unseen).describe()
    assert told == (
        "39 findings by swap, 40 findings by swap-exact, 1 finding by paired, 64 findings by contrast; "
        "swap, swap-exact and paired cannot see 177 of 2,000 pairs"
    )
    told = ReportSummary(
        n_tests=4, n_findings={"swap": 0, "contrast": 1}, n_unseen={"swap": 2, "contrast": 1}
    ).describe()
    assert told.endswith("; swap cannot see 2 of 2 pairs; contrast cannot see 1 of 2 pairs")
