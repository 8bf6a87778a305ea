"""How values become text: numbers for readers of a page or of a terminal, and CSV for programs."""
