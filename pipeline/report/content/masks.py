"""What is known of the masks of the held-out models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datamodels_inf.exchangeability import ExchangeabilityReport


@dataclass(frozen=True, eq=False)
class MaskCheck:
    """The check of exchangeability, how many of the held-out models saw each training image, and whether swap tests
    permute the rows."""

    report: ExchangeabilityReport
    column_sums: NDArray[np.int64]
    permuted: bool = True

    @property
    def has_law(self) -> bool:
        """Masks of all or nothing have none to speak of."""
        return 0.0 < self.report.proportion < 1.0 and bool(self.column_sums.size)
