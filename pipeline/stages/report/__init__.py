"""Stage 4, report: correct for multiplicity and show the findings."""
