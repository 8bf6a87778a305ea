"""Parts of a written report: tables, numbers in texts, places of dots."""

import csv
import re

from report_content import Page


def section_of(page):
    start = page.html.index('<section id="datamodels">')
    return page.html[start : page.html.index("</section>", start)]


def part_of(page):
    """The section of the datamodels alone."""
    return Page(section_of(page) + "</section>")


def points_of(path):
    """Where the dots of a path are."""
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)h0", path)]


def scatters_of(page):
    """The dots of every scatter plot."""
    parts = page.html.split('<svg class="scatter"')[1:]
    return [points_of(re.search(r'class="dots" d="([^"]*)"', part)[1]) for part in parts]


def read_table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def value_of(text):
    """The number that stands in a text of the page."""
    mantissa, _, power = text.replace("−", "-").replace("< 10", "1 × 10").partition(" × 10")
    digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10.0 ** int(digits or 0)
