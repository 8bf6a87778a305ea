"""Figures of the synthetic experiments: each rate has its colour at its place."""

import matplotlib
import numpy as np
import pytest
from PIL import Image

from datamodels_inf.simulate import PAIRS, SETTINGS, VARIANTS, Rates
from pipeline.commands.simulation_figures import COLOURS, draw_gain, draw_heatmaps

pytestmark = pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")


def made_rates(method, rate, settings):
    return [
        Rates(setting, 0.1, method, 30, np.asarray(rate, float), np.full(len(PAIRS), np.nan)) for setting in settings
    ]


def share_of(path, colour):
    """The share of pixels of a picture that have, almost, this colour."""
    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    return (np.abs(pixels - np.asarray(colour)).max(axis=2) <= 2).mean()


@pytest.mark.parametrize(("experiment", "ceiling"), [("size", 0.25), ("power", 1.0)])
def test_a_rate_has_the_colour_of_its_share_of_the_scale(tmp_path, experiment, ceiling):
    """45 pairs of one rate, drawn twice each, and nothing else, have this colour."""
    for share in (0.3, 0.7):
        draw_heatmaps(
            made_rates("swap", np.full(len(PAIRS), share * ceiling), SETTINGS[experiment][:1]), tmp_path / "a.png"
        )
        colour = np.round(255 * np.array(matplotlib.colormaps["cividis"](share)[:3]))
        assert share_of(tmp_path / "a.png", colour) > 0.2
        other = np.round(255 * np.array(matplotlib.colormaps["cividis"](1 - share)[:3]))
        assert share_of(tmp_path / "a.png", other) < 0.02


def test_one_high_rate_among_low_ones_is_two_cells_of_a_hundred(tmp_path):
    low, high = np.zeros(len(PAIRS)), np.zeros(len(PAIRS))
    high[7] = 1.0
    yellow = np.round(255 * np.array(matplotlib.colormaps["cividis"](1.0)[:3]))
    shares = []
    for rate in (low, high):
        draw_heatmaps(made_rates("paired", rate, SETTINGS["power"][:1]), tmp_path / "a.png")
        shares.append(share_of(tmp_path / "a.png", yellow))
    draw_heatmaps(made_rates("paired", np.ones(len(PAIRS)), SETTINGS["power"][:1]), tmp_path / "a.png")
    whole = share_of(tmp_path / "a.png", yellow) - shares[0]
    assert (shares[1] - shares[0]) / whole == pytest.approx(1 / 45, rel=0.1)


def test_every_method_has_its_line_in_the_figure_of_gains(tmp_path):
    rates = [
        r
        for k, m in enumerate(VARIANTS)
        for r in made_rates(m, np.full(len(PAIRS), 0.15 + 0.17 * k), SETTINGS["power"])
    ]
    draw_gain(rates, tmp_path / "gain.png")
    for method in VARIANTS:
        colour = [int(COLOURS[method][k : k + 2], 16) for k in (1, 3, 5)]
        assert share_of(tmp_path / "gain.png", colour) > 0.0005, method
