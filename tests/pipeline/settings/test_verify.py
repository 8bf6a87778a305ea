"""`[verify]`: one question at a time."""

import pytest

from pipeline.config_files import load_config
from pipeline.errors import BadInputError


def verify(*settings):
    return load_config("digits", [f"verify.{setting}" for setting in settings]).verify


def test_nothing_is_wanted_by_itself():
    assert not verify().wanted
    assert not verify("fresh=100", "models=8").wanted


@pytest.mark.parametrize("settings", (("top=3",), ("findings=[2, 5]",), ("pair=[1, '3:12']", "target=0")))
def test_each_question(settings):
    assert verify(*settings).wanted


def test_images_are_numbers_or_names():
    assert verify("pair=[1, '3:12']", "target=0").pair == (1, "3:12")


@pytest.mark.parametrize(("settings", "part"), [
    (("top=3", "findings=[2]"), "only one of verify.top, verify.findings and verify.pair"),
    (("top=3", "pair=[1, 2]", "target=0"), "only one of verify.top, verify.findings and verify.pair"),
    (("pair=[1, 2]",), "verify.pair must be two different images, with verify.target"),
    (("pair=[1, 2, 3]", "target=0"), "verify.pair must be two different images, with verify.target"),
    (("pair=[12, 12]", "target=0"), "verify.pair must be two different images, with verify.target"),
    (("target=0",), "verify.target is for verify.pair"),
    (("top=-1",), "verify.top = -1"),
    (("findings=[0]",), "verify.findings.0 = 0"),
    (("models=3",), "verify.models = 3: input should be greater than or equal to 4"),
    (("fresh=-1",), "verify.fresh = -1"),
    (("method=magic",), "verify.method = 'magic': input should be 'swap', "),
    (("method=paired", "top=1"), "'paired' was not run, so it has no findings; add it to test.method (swap)"),
    (("trials=3",), "verify.trials is not a setting"),
])  # fmt: skip
def test_what_is_refused(settings, part):
    with pytest.raises(BadInputError) as caught:
        verify(*settings)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
