"""Shards: the batches of a set divided among jobs that know nothing of each other, such as those of a job array."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.errors import BadInputError

MOST_RANGES = 12
"""Of many gaps, a sentence names so many."""


@dataclass(frozen=True)
class Shard:
    """Number `number` of `count` shards, from 1."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str) -> Shard:
        """From "3/100"; what is none is a `BadInputError`."""
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII)
        if match is None:
            raise BadInputError(f"--shard {text[:40]}: give it as K/N, such as 3/100, the third of a hundred shards.")
        number, count = int(match[1]), int(match[2])
        if count < 1:
            raise BadInputError(f"--shard {text}: there must be at least one shard.")
        if number == 0:
            raise BadInputError(f"--shard {text}: shards are counted from 1: use --array=1-{match[2]}.")
        if number > count:
            raise BadInputError(f"--shard {text}: there are only {count:,} shards; give a number from 1 to {count:,}.")
        return cls(number, count)

    def batches(self, n_batches: int) -> range:
        """Its batches of `n_batches` in all, next to each other: as many as other shards have, or one more."""
        return range((self.number - 1) * n_batches // self.count, self.number * n_batches // self.count)


def missing_shards(missing: Iterable[int], n_batches: int, count: int) -> list[int]:
    """The numbers of the shards, of `count`, that have a batch among those missing."""
    return sorted({-(-(batch + 1) * count // n_batches) for batch in missing})


def shards_in_words(numbers: Sequence[int], count: int) -> str:
    """ "shards 4 and 17 to 19 of 100 are", of rising numbers."""
    one = len(numbers) == 1
    return f"shard{'' if one else 's'} {in_words(runs(numbers))} of {count:,} {'is' if one else 'are'}"


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """(first, last) of each run of rising numbers that follow each other.

    >>> runs([4, 17, 18, 19])
    [(4, 4), (17, 19)]
    """
    ends = [k for k, number in enumerate(numbers) if k + 1 == len(numbers) or numbers[k + 1] != number + 1]
    return [(numbers[before + 1], numbers[end]) for before, end in zip([-1, *ends], ends, strict=False)]


def in_words(spans: Sequence[tuple[int, int]]) -> str:
    """Of very many only the first.

    >>> in_words([(4, 4), (7, 8), (17, 19)])
    '4, 7, 8 and 17 to 19'
    """
    words: list[str] = []
    for first, last in spans[:MOST_RANGES]:
        words += [f"{first:,} to {last:,}"] if last > first + 1 else [f"{k:,}" for k in range(first, last + 1)]
    if len(spans) > MOST_RANGES:
        words.append(f"{sum(last - first + 1 for first, last in spans[MOST_RANGES:]):,} more")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
