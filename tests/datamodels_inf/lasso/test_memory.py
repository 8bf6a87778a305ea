"""Memory of a fit: what the sentences ask for is enough, and squares of working sets keep to their share."""

import re

import numpy as np
import pytest
from lasso_problems import HARD, problem, same_choices

from datamodels_inf import PackedMasks
from datamodels_inf.lasso import descent
from datamodels_inf.lasso.columns import words_of
from datamodels_inf.lasso.descent import Scratch
from datamodels_inf.lasso.solver import Lasso, lasso_path


def memory_asked_for(masks, **options):
    """In bytes."""
    with pytest.raises(ValueError, match="`memory_gb` must be at least") as told:
        Lasso(masks, validation_rows=1, memory_gb=1e-9, **options)
    asked = float(re.search(r"at least (\S+) for", str(told.value))[1])
    Lasso(masks, validation_rows=1, memory_gb=asked, **options)
    return 1e9 * asked


@pytest.mark.parametrize(("n", "d"), [(400, 30), (1042, 2695), (50_000, 3_000), (7, 1), (2_000, 1_000)])
def test_the_memory_that_the_sentence_asks_for_is_enough(n, d):
    assert memory_asked_for(PackedMasks(np.zeros((n, (d + 7) // 8), np.uint8), d)) > 2 * min(d, 1024) * d


def test_parts_of_rows_take_words_of_their_own():
    """Each part begins with a word of its own, so many small ones take more memory than few large ones."""
    masks = PackedMasks(np.zeros((6_000, 250), np.uint8), 2_000)
    whole, many = memory_asked_for(masks), memory_asked_for(masks, ends=[*range(100, 6_000, 100), 6_000])
    assert many - whole > 0.9 * 8 * 2_000 * 58 * words_of(100)


def test_a_solution_that_does_not_fit_in_memory():
    """With the memory that the sentence asks for, it does."""
    masks, margins, _ = problem(1, 3000, 1500, 1, noise=0.01)
    options = {"n_lambdas": 3, "lambda_ratio": 1e-5}
    with pytest.raises(
        ValueError, match=r"the rows of 1\d\d\d fit in memory: end it at a larger `lambda_ratio`"
    ) as told:
        lasso_path(masks, margins, memory_gb=0.0098, **options)
    enough = float(re.search(r"set `memory_gb` to (\S+), enough for all rows", str(told.value))[1])
    path = lasso_path(masks, margins, memory_gb=enough, **options)
    assert path.n_nonzero[-1, 0] > 1200
    assert path.gap.max() <= 1e-6


class Watched(Scratch):
    """Counts the squares that are out, and those beyond `most_rows` among them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.out, self.most_out, self.most_large = [], 0, 0

    def take(self, least):
        square = super().take(least)
        with self._lock:
            self.out.append(square.nbytes)
            self.most_out = max(self.most_out, sum(self.out) + sum(free.nbytes for free in self._free))
            self.most_large = max(self.most_large, sum(size > 4 * self.most_rows**2 for size in self.out))
        return square

    def give(self, square):
        with self._lock:
            if square.size:
                self.out.remove(square.nbytes)
        super().give(square)


def test_squares_of_working_sets_keep_to_their_memory():
    """Those in use and those kept for later; a larger one is there only alone, with the one that it grows from."""
    masks, margins, _ = problem(18, 271, 103, 7)
    lasso = Lasso(masks, **HARD, threads=3)
    lasso.scratch = Watched(3, 3 * 4 * 50**2, 0, 103)
    lasso.gram.require(np.arange(103))  # No wait for rows gives a square back.
    choices = lasso.choose(margins)
    assert max(choice.n_nonzero.max() for choice in choices) > 50
    assert lasso.scratch.most_large in (1, 2)
    assert lasso.scratch.out == []
    assert lasso.scratch.most_out <= lasso.scratch.total_bytes + 2 * 4 * 103**2


def test_a_working_set_that_is_alone_takes_the_memory_of_rows_that_it_does_not_need(monkeypatch):
    """So that both together keep to what there is, and the fit is the same to the last bit."""
    masks, margins, _ = problem(18, 271, 103, 7)
    enough = Lasso(masks, **HARD, threads=1)
    choices = enough.choose(margins)
    lasso, seen = Lasso(masks, **HARD, threads=1), []
    limit = 4 * 75**2 + 2 * 103 * 80
    lasso.scratch = Scratch(1, 4 * 30**2, 0, 103, limit)
    monkeypatch.setattr(descent, "GROWTH", 4)
    alone = descent._room_alone

    def noted(way, gram, scratch):
        most = alone(way, gram, scratch)
        rows = int(np.count_nonzero(gram._slot >= 0))
        seen.append((4 * most**2 + 2 * 103 * max(rows, 0), rows, way.needs.size))
        return most

    monkeypatch.setattr(descent, "_room_alone", noted)
    again = lasso.choose(margins)
    assert len(seen) > 10
    assert all(used <= limit or rows == needed for used, rows, needed in seen)
    assert any(rows < 103 for _, rows, _ in seen)
    assert lasso.gram.counted > 103
    assert same_choices(choices, again)
