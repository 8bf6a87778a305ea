"""Numbers as text: with signs and powers as they are printed, or in plain letters for a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOT_KNOWN = "not known"


def number(value: float, digits: int = 3) -> str:
    """`value` to so many significant digits, as one prints it: 0.0312, −1.5, 5 × 10⁻⁵, ∞."""
    if math.isnan(value):
        return NOT_KNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    mantissa, _, exponent = format(abs(value), f".{digits}g").partition("e")
    power = f" × 10{str(int(exponent)).translate(SUPERSCRIPTS)}" if exponent else ""
    return f"{'−' if value < 0 else ''}{mantissa}{power}"


def fixed(value: float, places: int) -> str:
    """`value` with so many decimals, where that is a sensible length."""
    if not math.isfinite(value) or places > 5 or abs(value) >= 1e6:
        return number(value)
    text = f"{abs(value):.{places}f}"
    return f"−{text}" if value < 0.0 and float(text) != 0.0 else text


def pvalue(value: float) -> str:
    """A p-value; one that underflowed to 0 is known to be tiny, not to be 0."""
    return "< 10⁻³⁰⁰" if value == 0.0 else number(value)


def p_equals(value: float) -> str:
    """ "p = 0.0123", or "p < 10⁻³⁰⁰"."""
    text = pvalue(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def percent(share: float) -> str:
    """0.2 as "20 %"."""
    return f"{100.0 * share:.4g} %"


def counted(count: int, noun: str) -> str:
    """ "1 pair", "2,000 pairs"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def are_counted(count: int, noun: str, *, first: bool = False) -> str:
    """ "is 1 pair", "are 2,000 pairs"; with the count first, "1 pair is"."""
    verb, what = "is" if count == 1 else "are", counted(count, noun)
    return f"{what} {verb}" if first else f"{verb} {what}"


def thousands(count: int) -> str:
    """A count with its thousands apart: 12,000."""
    return f"{count:,}"


def human_bytes(count: float) -> str:
    """Bytes in the unit that leaves few digits, of thousands.

    >>> human_bytes(999), human_bytes(12_345_678), human_bytes(5e12)
    ('999 B', '12.3 MB', '5000.0 GB')
    """
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def weights(values: Sequence[float]) -> list[str]:
    """Weights beside each other, with the decimals that give the largest two digits."""
    largest = max((abs(value) for value in values), default=0.0)
    places = max(0, 1 - math.floor(math.log10(largest))) if largest > 0.0 else 0
    return [fixed(value, places) for value in values]


def unbroken(text: str) -> str:
    """`text` for a page that breaks lines: "95 %", "train 12" and "5 × 10⁻⁵" stay together."""
    return re.sub(r"(?<=\d) (?=%|× 10)|(?<=\btrain) (?=\d)|(?<=\d ×) (?=10)", "\N{NO-BREAK SPACE}", text)


def terminal_pvalue(value: float, digits: int = 3) -> str:
    """A p-value in plain letters; one that underflowed to 0 is known to be tiny, not to be 0."""
    return "<1e-300" if value == 0.0 else f"{value:.{digits}g}"


def or_nan(value: float | None) -> float:
    """NaN for what is not known."""
    return math.nan if value is None else value
