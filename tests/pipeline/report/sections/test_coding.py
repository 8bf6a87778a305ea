"""What the weights multiply: told where it had to be decided, and left out where it is not known."""

import math

import pytest
from report_content import make_rows

from pipeline.report.content import Coding

LOADED = {"mse_mask": 0.52341, "mse_signed": 0.0417, "mse_constant": 0.9, "n_models": 100}


@pytest.mark.parametrize(
    ("name", "taken"),
    [("mask", "Taken: masks of 0 and 1 ."), ("signed", "Taken: ±1 , and turned into weights of 0 and 1.")],
)
def test_the_errors_that_decided_are_told(report, name, taken):
    _, page = report(make_rows(9, 2), coding=Coding(name, **LOADED))
    assert "on 100 models that are not tested: 0.5234 with 0 and 1, 0.0417 with ±1, 0.9 for the best" in page.text
    assert taken in page.text


def test_weights_that_were_fitted_here_need_no_decision(report):
    _, page = report(make_rows(9, 2), coding=Coding("mask", *[math.nan] * 3), unit="loss")
    assert "the weights were fitted here. θ̂ is the change of the predicted loss when an image joins" in page.text
    assert "Mean squared error" not in page.text


def test_without_a_coding_nothing_is_said(report):
    _, page = report(make_rows(9, 2))
    assert "What the weights multiply" not in page.text
