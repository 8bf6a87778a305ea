"""500 pairs of the embedded set, tested by three methods: settings, and references of what commands say."""

import csv
import io

import numpy as np
from scipy.stats import t

METHODS = ("swap", "paired", "contrast")
HARMONIC = np.sum(1 / np.arange(1, 501))
SETTINGS = ("--set", f"test.method={list(METHODS)}", "--set", "fit.n_lambdas=10", "--set", "test.repeats=5")


def parsed(text):
    return list(csv.DictReader(io.StringIO(text)))


def key(row):
    return row["method"], int(row["i"]), int(row["j"]), int(row["target"])


def longer(row, left_out):
    """The interval of a row at level 1 − left_out."""
    half = t.isf(left_out / 2, row["effect_df"]) * row["effect_se"]
    return row["effect"] - half, row["effect"] + half
