"""Whether more is better, by the name of an outcome."""

import pytest

from datamodels_inf.outcomes import higher_is_better_by_name

LOWER = (
    "loss", "test loss", "test_loss", "val_loss", "log_loss", "logloss", "LogLoss", "valLoss", "loss_0", "losses",
    "Cross-entropy", "cross_entropy", "crossentropy", "CrossEntropyLoss", "BCE", "BCEWithLogitsLoss", "error",
    "error_rate", "test-error", "top1_err", "RMSE", "MSE", "val_mse", "mean squared error", "NLL", "testNLL",
    "neg_log_likelihood", "negative log-likelihood", "val_neg_log_likelihood", "perplexity", "false_positive_rate",
    "negative margin", "-accuracy", "accuracy drop",
)  # fmt: skip
HIGHER = (
    "margin", "accuracy", "log_likelihood", "log-probability", "glossiness", "outcome", "correct_class_margin",
    "negative_loss", "neg_loss", "negative log loss", "neg_mean_squared_error", "-loss", "− MSE", "minus test loss",
    "loss reduction", "negative class accuracy", "negative_predictive_value", "terror", "F1", "blossoms", "",
)  # fmt: skip


@pytest.mark.parametrize("name", LOWER)
def test_of_losses_and_errors_less_is_better_however_they_are_written(name):
    assert not higher_is_better_by_name(name)


@pytest.mark.parametrize("name", HIGHER)
def test_of_others_and_of_negated_losses_more_is(name):
    assert higher_is_better_by_name(name)
