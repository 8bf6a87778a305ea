"""Unfinished parts: of one job, whoever comes first; what must happen once does, however many begin together."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from filelock import FileLock
from small_cifar10 import refusal, wait_for

from datamodels_inf.training.recipe import Recipe
from pipeline.errors import BadInputError
from pipeline.store.unfinished_steps import save_step
from pipeline.training.job import Job
from pipeline.training.parts import Parts, check_same, read_job, shard_folder
from pipeline.training.shards import Shard
from pipeline.training.work import Models

JOB = Job("digits", 40, 3, "0" * 64, 1300, Recipe(hidden=4), 5, 0.5, "fixed-size")


@pytest.fixture
def parts(tmp_path):
    made = Parts(tmp_path, JOB)
    with made.claimed():
        pass
    return made


def test_batches_and_their_files(parts):
    assert list(parts.starts) == [0, 512, 1024]
    assert parts.models(1024) == Models(5, 1024, 1300)
    assert parts.path(512) == parts.out / ".parts" / "000000512.npz"
    assert parts.n_models([0, 1024]) == 512 + 276
    assert [list(parts.of_shard(Shard(k, 2))) for k in (1, 2)] == [[0], [512, 1024]]
    assert list(parts.of_shard(Shard(1, 4))) == []


def finish(parts, start):
    models = parts.models(start)
    save_step(parts.path(start), {"margins": np.ones((models.stop - models.first, 3), np.float16)})


OTHER = replace(JOB, seed=6, recipe=Recipe(hidden=8))


def test_they_are_found_again_and_are_of_one_job(parts):
    assert Parts.found(parts.out) == parts
    finish(parts, 512)
    sentence = refusal(Parts(parts.out, OTHER).claimed().__enter__)
    assert "holds unfinished work with other settings (recipe.hidden 4 and 8, seed 5 and 6)" in sentence
    assert sentence.endswith("give --out another folder.")
    (parts.folder / "job.json").write_text("{}")
    assert "job.json is damaged; delete" in refusal(Parts.found, parts.out)


@pytest.mark.parametrize("damage", ("{}", "", '{"job": 5}', "seed"))
def test_a_damaged_note_does_not_cost_batches_that_say_whose_they_are(parts, damage):
    note = parts.folder / "job.json"
    note.write_text(note.read_text().replace('"seed": 5', '"seed": 6') if damage == "seed" else damage)
    trained = {"margins": np.ones((512, 3), np.float32), "of": np.frombuffer(parts._tag(512), np.uint8)}
    save_step(parts.path(512), trained)
    assert "other settings" in refusal(Parts(parts.out, OTHER).claimed().__enter__)
    with parts.claimed():
        pass
    assert Parts.found(parts.out) == parts
    assert parts.outcomes(512) is not None
    note.write_text("{}")
    finish(parts, 0)  # One that does not say it.
    assert "other settings" in refusal(parts.claimed().__enter__)


def test_a_folder_in_which_nothing_is_finished_and_nobody_works_is_free_for_another_job(parts):
    """As after a function that failed at once, and was mended. What the other job needed is not taken for its own."""
    (parts.folder / "features.npz").write_text("of the first job")
    other = Parts(parts.out, OTHER)
    for shard in (None, Shard(2, 3)):
        with parts.work(shard):
            assert "other settings" in refusal(other.claimed().__enter__)
    with other.claimed():
        assert not (parts.folder / "features.npz").exists()
    assert Parts.found(parts.out) == other
    assert "other settings" in refusal(parts.work().__enter__)


def test_a_folder_without_parts_has_none(tmp_path):
    assert Parts.found(tmp_path) is None
    (tmp_path / "thesis.tex").write_text("precious")
    assert "is not empty and was not made by this command" in refusal(Parts(tmp_path, JOB).claimed("OUT").__enter__)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("different", (False, True), ids=("one job", "two jobs"))
def test_of_many_that_begin_together_one_brings_what_all_need(tmp_path, different):
    """As jobs of an array do. Of two jobs that want one folder, only one works in it."""
    count = 16
    together, brought = Barrier(count), []

    def begin(k):
        parts = Parts(tmp_path, replace(JOB, seed=k % 2 if different else 5))
        together.wait()
        try:
            with parts.claimed():
                if not (parts.folder / "features").exists():
                    brought.append(k)
                    (parts.folder / "features").write_text(str(k))
            with parts.work(Shard(k + 1, count)):
                finish(parts, 0)
                return (parts.folder / "features").read_text()
        except BadInputError as error:
            return str(error)

    with ThreadPoolExecutor(count) as pool:
        said = list(pool.map(begin, range(count)))
    worked = {k: int(text) for k, text in enumerate(said) if text.isdecimal()}
    assert worked and len(set(worked.values())) == 1
    assert all("other settings" in text for k, text in enumerate(said) if k not in worked)
    if different:
        assert {k % 2 for k in worked} == {read_job(tmp_path / ".parts" / "job.json").seed}
    else:
        assert (len(worked), len(brought)) == (count, 1)


def test_a_batch_is_whole_or_not_there(parts):
    said = []
    assert parts.outcomes(0, said.append) is None
    save_step(parts.path(0), {"margins": np.ones((512, 3), np.float16)})
    assert parts.outcomes(0, said.append).shape == (512, 3)
    assert said == []
    save_step(parts.path(512), {"margins": np.ones((500, 3), np.float16)})
    assert parts.outcomes(512, said.append) is None
    content = bytearray(parts.path(0).read_bytes())
    content[400] ^= 1
    parts.path(0).write_bytes(content)
    assert parts.outcomes(0, said.append) is None
    assert ["another shape" in said[0], "its checksum" in said[1]] == [True, True]


def test_a_batch_of_an_earlier_version_is_of_the_job_of_its_folder(parts):
    """It does not say whose it is. What says so is not known by how the job's numbers were written."""
    finish(parts, 0)
    assert parts.outcomes(0) is not None
    whole, real = (replace(JOB, recipe=Recipe(hidden=4, learning_rate=rate)) for rate in (1, 1.0))
    assert Parts(parts.out, whole)._tag(0) == Parts(parts.out, real)._tag(0) != parts._tag(0)


def test_one_holder_of_a_shard_at_a_time_and_other_shards_beside_it(parts):
    with parts.work(Shard(1, 2)), parts.work(Shard(2, 2)), parts.work():
        assert parts.shard_counts() == {2}
        with pytest.raises(TimeoutError):
            FileLock(shard_folder(parts.out, Shard(1, 2)) / "lock").acquire(timeout=0)
    assert shard_folder(parts.out, Shard(3, 12)) == parts.folder / "shard-3-of-12"
    (parts.folder / "shard-3-of-12").mkdir()
    assert parts.shard_counts() == {2, 12}


def test_what_a_killed_shard_was_writing_is_removed_once_nobody_else_writes(parts):
    left = parts.folder / ".part-killed.npz"
    with parts.work(Shard(1, 2)):
        left.write_bytes(b"half")
        with parts.work(Shard(2, 2)):
            assert left.exists()  # It may be what shard 1 writes just now.
    with parts.work(Shard(2, 2)):
        assert not left.exists()


def test_work_does_not_begin_while_somebody_claims_the_folder(parts):
    """It might be for another job: whoever claims looks who works, and clears what nobody works on."""
    with ThreadPoolExecutor(1) as pool:
        with parts.claimed():
            begun = pool.submit(parts.work(Shard(1, 2)).__enter__)
            with pytest.raises(TimeoutError):
                begun.result(0.5)
        begun.result(30)


def test_what_is_missing_is_named_by_shards_or_by_models(parts):
    assert parts.missing_in_words([512], {3}) == "shard 2 of 3 is"
    assert parts.missing_in_words([0, 1024], {3}) == "shards 1 and 3 of 3 are"
    for counts in ((), {3, 4}):
        assert parts.missing_in_words([1024, 512], counts) == "models 512 to 1,299 are"
    alone = Parts(parts.out, replace(JOB, n_models=513))
    assert alone.missing_in_words([512], ()) == "model 512 is"


def test_a_note_that_cannot_be_read_is_of_no_job(tmp_path):
    note = tmp_path / "job.json"
    for text in ("", "[]", "{}", json.dumps({"job": {"n_train": 3}})):
        note.write_text(text)
        assert read_job(note) is None
        assert "is of another" in refusal(check_same, note, JOB, "is of another")


def test_whoever_has_to_wait_for_another_command_says_so(parts):
    said, second = [], []
    with ThreadPoolExecutor(1) as other:
        with parts.work(say=said.append):
            waiting = other.submit(_worked, parts, second)
            wait_for(lambda: second)
            assert not waiting.done()
        waiting.result(timeout=60)
    assert said == []
    assert second == [f"waiting for another command, which trains into {parts.out} …", "at work"]


def _worked(parts, said):
    with parts.work(say=said.append):
        said.append("at work")


def test_what_is_not_ours_stays_when_the_folder_is_taken_for_another_job(parts):
    (parts.folder / "thesis.tex").write_text("precious")
    with Parts(parts.out, OTHER).claimed():
        assert (parts.folder / "thesis.tex").read_text() == "precious"


def test_a_link_to_parts_of_another_job_is_left_alone(parts, tmp_path):
    there = tmp_path / "mine"
    parts.folder.rename(there)
    (there / "images.npz").write_text("precious")
    parts.folder.symlink_to(there)
    assert "is a link to a folder of another job" in refusal(Parts(parts.out, OTHER).claimed().__enter__)
    assert (there / "images.npz").read_text() == "precious"
