"""What a page holds at most, so that it can be sent by mail however many tests and findings there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.groups import KEPT, Group

PAGE_BYTES = 5_000_000
ALL_PANELS = 200
"""Of all methods together."""
TABLE_ROWS, ALL_ROWS = KEPT, 2 * KEPT
"""Of each method, and of the page."""


@dataclass(frozen=True)
class Limits:
    """Of each method: panels, and findings in its table."""

    panels: int
    rows: int

    @classmethod
    def of(cls, groups: Sequence[Group], max_panels: int) -> Limits:
        """What a page of such tests begins with; where it is too long with that, it has less (`smaller`)."""
        with_findings = sum(group.n_found > 0 for group in groups)
        return cls(panels_of_each(groups, max_panels), min(TABLE_ROWS, ALL_ROWS // max(1, with_findings)))

    def smaller(self, n_bytes: int) -> Limits:
        """For a page that came out with so many bytes: fewer rows first, then fewer panels."""
        share = 0.9 * PAGE_BYTES / n_bytes
        if self.rows > self.panels:
            return Limits(self.panels, max(self.panels, int(share * self.rows) - 1))
        return Limits(max(0, int(share * self.panels) - 1), max(0, int(share * self.rows) - 1))


def panels_of_each(groups: Sequence[Group], max_panels: int) -> int:
    """How many findings of each method may be drawn."""
    with_findings = sum(group.n_found > 0 for group in groups)
    return min(max_panels, ALL_PANELS // max(1, with_findings))
