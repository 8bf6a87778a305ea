"""How values become text: numbers and sentences for readers of a page or of a terminal, CSV and JSON for programs; and
what must not be told: secrets, and where a user's files lie."""
