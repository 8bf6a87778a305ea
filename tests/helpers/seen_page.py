"""What can be seen of a report in a browser, and what its files say of the same findings."""

import csv


def read(folder):
    with (folder / "findings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_method(folder, method):
    return list(enumerate((line for line in read(folder) if line["method"] == method), start=1))


def seen_cards(page):
    """Numbers of the findings whose panels can be seen, from top to bottom."""
    cards = page.locator("article[id]:visible")
    return [int(name.rpartition("-")[2]) for name in cards.evaluate_all("cards => cards.map(card => card.id)")]


def seen_rows(page):
    """Texts of the rows of the table that can be seen."""
    return page.locator("table.sortable tbody tr:visible").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
