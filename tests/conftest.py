"""A shell's background job (`make test &`) ignores SIGINT, and so would the processes that the tests interrupt.

The longest files come first, so that no worker is left alone with one of them at the end.
"""

import signal

import pytest

for helper in ("contrast_cases", "gram_checks", "lasso_problems", "report_content"):
    pytest.register_assert_rewrite(helper)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = (
    "test_wheel",
    "test_training",
    "test_size",
    "test_simulate",
    "test_remote",
    "test_pipeline",
    "test_hard_nulls",
)


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
