"""What a test of a pair and the influence of a single image have in common: an effect and its intervals."""

from __future__ import annotations

import math


class Estimated:
    """An effect with its 95 % interval, and the longer interval of a finding, which makes up for the selection.

    Any of them may be NaN where it is not known, and the ends infinite.
    """

    effect: float
    effect_low: float
    effect_high: float
    effect_low_selected: float
    effect_high_selected: float

    @property
    def is_longer(self) -> bool:
        """The interval that makes up for the selection is known, and is not just the 95 % one."""
        low, high = self.effect_low_selected, self.effect_high_selected
        return not math.isnan(low) and not math.isnan(high) and (low, high) != (self.effect_low, self.effect_high)
