"""Growth of findings: one number a block."""

import pytest

from pipeline.report.content import Growth


@pytest.mark.parametrize(("models", "found"), [((1, 2), (1,)), ((), ())])
def test_every_block_has_its_findings(models, found):
    with pytest.raises(ValueError, match="one entry for each block"):
        Growth(models, found)
