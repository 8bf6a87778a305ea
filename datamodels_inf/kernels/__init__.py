"""Compiled loops, each with a plain twin that tests hold it against. Importing one brings Numba, so import it late."""

STEP = 64
"""A column of bits has a multiple of so many words: `popcount` takes them at a time."""
