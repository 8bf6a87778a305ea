"""The files of a report: page, panels, CSV, JSON."""
