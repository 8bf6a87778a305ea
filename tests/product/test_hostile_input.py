"""Files and answers made wrong before every reader (tests/helpers/hostile.py): only our own sentences, bounded memory,
no hang, no code, nothing written. The long run is one of `make faults`."""

from hostile import run
from hostile_readers import READERS
from long_runs import times


def test_hostile_input_ends_in_a_sentence_or_a_valid_answer():
    found = run(times(3_000, 20_000), seed=23)
    assert not [failure for counts in found.values() for failure in counts.failures]
    assert found.keys() == READERS.keys()
    assert all(counts.tries == counts.refused + counts.read for counts in found.values())
    assert sum(counts.read for counts in found.values()) > 100  # Not all is refused at the first byte.


def test_a_reader_that_fails_hangs_dies_or_writes_is_seen():
    found = run(5, only="broken on purpose", longest=0.5)
    told = " ".join(why for counts in found.values() for _, why in counts.failures)
    assert sum(counts.failed for counts in found.values()) == 5
    label = next(label for counts in found.values() for label, why in counts.failures if "KeyError" in why)
    again = run(5, only=label)  # As `make faults` prints it.
    assert [counts.tries for counts in again.values()] == [1]
    for word in ("KeyError", "too long", "MemoryError", "wrote", "ended with"):
        assert word in told, word
