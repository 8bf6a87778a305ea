"""Shards: every batch is in one of them, as evenly as can be; what is missing is named in few words."""

import pytest
from small_cifar10 import refusal

from pipeline.training.shards import Shard, in_words, missing_shards, runs, shards_in_words


@pytest.mark.parametrize("n_batches", (1, 2, 7, 24, 586))
@pytest.mark.parametrize("count", (1, 2, 5, 24, 100))
def test_each_batch_is_in_one_shard_next_to_its_neighbours(n_batches, count):
    parts = [list(Shard(k, count).batches(n_batches)) for k in range(1, count + 1)]
    assert [batch for part in parts for batch in part] == list(range(n_batches))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for k, part in enumerate(parts, start=1):
        for batch in part:
            assert missing_shards([batch], n_batches, count) == [k]
    assert missing_shards(range(n_batches), n_batches, count) == [k for k, part in enumerate(parts, 1) if part]


def test_a_shard_is_read():
    assert Shard.of("3/100") == Shard(3, 100)
    assert Shard.of(" 100/100 ") == Shard(100, 100)


@pytest.mark.parametrize(("text", "part"), [
    ("0/100", "--shard 0/100: shards are counted from 1: use --array=1-100."),
    ("101/100", "there are only 100 shards; give a number from 1 to 100"),
    ("1/0", "there must be at least one shard"),
    ("3", "give it as K/N, such as 3/100"),
    (f"1/{'9' * 5000}", "give it as K/N"),
    ("/100", "give it as K/N"),
    ("-1/100", "give it as K/N"),
    ("3 / 100", "give it as K/N"),
    ("٣/١٠", "give it as K/N"),
    ("a/b", "give it as K/N"),
])  # fmt: skip
def test_what_is_no_shard_is_one_sentence(text, part):
    sentence = refusal(Shard.of, text)
    assert part in sentence
    assert "\n" not in sentence


def test_missing_ones_are_named():
    assert shards_in_words([4, 17, 18, 19], 100) == "shards 4 and 17 to 19 of 100 are"
    assert shards_in_words([4], 1000) == "shard 4 of 1,000 is"
    assert runs([0, 1, 5, 7, 8]) == [(0, 1), (5, 5), (7, 8)]
    assert runs([]) == []
    assert in_words([(0, 1), (5, 5), (1000, 1999)]) == "0, 1, 5 and 1,000 to 1,999"
    assert in_words([(2 * k, 2 * k) for k in range(100)]).endswith("20, 22 and 88 more")
