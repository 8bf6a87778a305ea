"""Compiled loops, each with a plain twin that tests hold it against. Importing one brings Numba, so import it late."""
