"""Stages evidence and prior: what the fit rows expect of the tests, as weights and a shape for the correction."""
