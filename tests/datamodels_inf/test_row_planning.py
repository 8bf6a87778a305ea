"""Models to train: against a search of every number, and what each method tests, either way."""

import pytest

from datamodels_inf.methods import METHODS
from datamodels_inf.planning import Plan, detectable_effect, plan
from datamodels_inf.row_blocks import LEAST, block_ends, first_rows, held_out_split
from datamodels_inf.row_planning import DIP, WAYS, models_to_train, rows_by_method


def needing(rows):
    """A plan that needs so many tested models, whatever tests them."""
    return Plan(1.0, 0.01, 0.8, 1.0, 0.5, dict.fromkeys(METHODS, rows))


def test_what_each_method_tests():
    assert rows_by_method("held-out", 12_000, 400) == dict.fromkeys(METHODS, 12_000 - held_out_split(12_000, 400))
    ends = block_ends(12_000, first_rows(12_000, 400))
    assert rows_by_method("progressive", 12_000, 400) == {
        "swap": 12_000 - ends[-1],
        "swap-exact": 12_000 - ends[-1],
        "paired": 12_000 - ends[0],
        "contrast": 12_000 - ends[0],
    }


@pytest.mark.parametrize("n_train", (2, 400, 50_000))
@pytest.mark.parametrize("way", WAYS)
def test_no_smaller_number_is_enough(way, n_train):
    """Of every number of tested models up to 300 and some others, the first N that has so many, by looking at all N."""
    table = {n: rows_by_method(way, n, n_train) for n in range(2 * LEAST, 4_000)}
    for wanted in (*range(1, 301), 776, 777):
        found = models_to_train(way, needing(wanted), n_train)
        for method in METHODS:
            assert found[method] == next(n for n in table if table[n][method] >= wanted), (wanted, method)


def test_the_last_block_can_shrink_with_another_model_but_not_by_much():
    """Plain bisection would be wrong; the search is right as long as a fall is at most DIP."""
    largest, falls = 0, []
    for n in (*range(2 * LEAST, 5000), *range(309_000, 311_000)):
        rows = rows_by_method("progressive", n, 400)["swap"]
        falls.append(largest - rows)
        largest = max(largest, rows)
    assert 0 < max(falls) <= DIP


def test_plans_for_many_models_are_whole_and_the_smallest():
    for way in WAYS:
        found = models_to_train(way, needing(10**9), 50_000)
        for method in METHODS:
            near = [rows_by_method(way, n, 50_000)[method] for n in range(found[method] - 200, found[method] + 1)]
            assert near[-1] >= 10**9 > max(near[:-1])


def test_a_plan_and_what_it_finds_agree():
    settings = {"alpha": 1e-4, "power": 0.8, "noise": 0.4}
    needed = plan(effect=0.3, **settings)
    for way in WAYS:
        to_train = models_to_train(way, needed, 400)
        for method in METHODS:
            found = detectable_effect(rows_by_method(way, to_train[method], 400), **settings)[method]
            assert 0.98 * 0.3 < found <= 1.001 * 0.3, (way, method)
    assert models_to_train("progressive", needed, 400).contrast < models_to_train("held-out", needed, 400).contrast
    assert models_to_train("progressive", needed, 400).swap > models_to_train("held-out", needed, 400).swap


def test_what_no_number_of_models_finds_is_none():
    assert models_to_train("held-out", needing(None), 400).figures == dict.fromkeys(METHODS)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: rows_by_method("all", 1000, 400), "`way` must be one of 'held-out', 'progressive', but it is 'all'"),
    (lambda: rows_by_method("held-out", 39, 400), "`n_models` must be a whole number of at least 40"),
    (lambda: models_to_train("all", needing(9), 400), "`way` must be one of"),
    (lambda: models_to_train("progressive", needing(9), 1), "`n_train` must be a whole number of at least 2"),
])  # fmt: skip
def test_bad_input(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
