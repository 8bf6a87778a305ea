"""Whether more of an outcome is better, where nobody said so: by its name."""

from __future__ import annotations

import re

LOWER_IS_BETTER = frozenset((
    "loss", "losses", "logloss", "error", "errors", "err", "nll", "bce", "ce", "xent", "mse", "rmse", "mae", "mape",
    "perplexity", "ppl", "entropy", "crossentropy", "risk", "cost", "brier", "deviance", "divergence",
    "misclassification", "false", "wer", "cer",
))  # fmt: skip
NEGATIONS = frozenset(("neg", "negative", "negated", "minus"))
QUANTITIES = LOWER_IS_BETTER | frozenset((
    "likelihood", "loglikelihood", "probability", "prob", "logprob", "logprobability", "margin", "margins", "accuracy",
    "acc", "score", "scores", "reward", "auc",
))  # fmt: skip
BETWEEN = frozenset((
    "log", "mean", "average", "avg", "median", "root", "squared", "absolute", "total", "sum", "binary", "categorical",
    "cross", "max", "test", "val", "validation", "train", "training",
))  # fmt: skip
"""May stand between a negation and what it negates: "negative log-likelihood", but not "negative class accuracy"."""
LESSENED = frozenset(("reduction", "decrease", "drop"))


def higher_is_better_by_name(name: str) -> bool:
    """Whether a larger outcome is the better one: not of a loss or an error, and of what has no known name it is.

    Words end at spaces, hyphens, underscores, digits and where small letters turn to capitals. A negation before the
    quantity ("negative", "neg", "minus", a minus sign in front) and a lessening of it ("reduction") turn the answer.

    >>> [higher_is_better_by_name(name) for name in ("margin", "accuracy", "log_likelihood", "neg_loss", "-MSE")]
    [True, True, True, True, True]
    >>> [higher_is_better_by_name(name) for name in ("test_loss", "valLoss", "error_rate", "BCE", "neg_log_likelihood")]
    [False, False, False, False, False]
    """
    words = _words(name)
    higher = not LOWER_IS_BETTER.intersection(words)
    turns = re.match(r"\s*[-−]\s*\w", name) is not None
    turns ^= any(_negates(words[place:]) for place in range(len(words)))
    turns ^= bool(LESSENED.intersection(words))
    return higher != turns


def _words(name: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W\d_]+", apart.lower()) if word]


def _negates(words: list[str]) -> bool:
    """Whether the first word negates a quantity that follows it."""
    if words[0] not in NEGATIONS:
        return False
    following = next((word for word in words[1:] if word not in BETWEEN), "")
    return following in QUANTITIES
