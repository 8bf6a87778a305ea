"""The referee's own page: one table, one figure, contradictions with their images, CSV and JSON beside it."""
