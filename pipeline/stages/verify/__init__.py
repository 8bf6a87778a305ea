"""Findings held against models that are trained anew, with their two images forced in and out; only if asked for."""
