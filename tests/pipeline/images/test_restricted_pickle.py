"""Pickles of batches: what is hostile runs nothing and leaves nothing."""

import pickle

from python2_batches import BATCHES, Marker, expected, python2_string, refusal, same

from pipeline.images.image_set import load_cifar10


def hostile_pickles(marker):
    command = python2_string(f"touch {marker}".encode())
    wrapped = {"data": Marker(marker), "labels": [0]}
    yield from (pickle.dumps(wrapped, protocol=protocol) for protocol in range(6))
    for call in (b"os\nsystem", b"posix\nsystem", b"subprocess\ngetoutput", b"__builtin__\neval", b"builtins\nexec"):
        yield b"\x80\x02c" + call + b"\n(" + command + b"tR."
    yield b"\x80\x02(ios\nsystem\n."  # INST
    yield b"\x80\x04\x8c\x05numpy\x8c\x0fndarray.__new__\x93."  # a dotted way out of an allowed name
    yield b"\x80\x02cnumpy.core.multiarray\nfromfile\n(" + command + b"tR."
    yield b"\x80\x02cnumpy\nndarray\n)\x81."  # NEWOBJ


def test_hostile_pickles_run_nothing_and_leave_nothing(folder, tmp_path):
    marker = tmp_path / "ran"
    pickle.loads(pickle.dumps(Marker(marker)))
    assert marker.exists()  # the marker works where nobody is careful
    marker.unlink()
    before = sorted(tmp_path.rglob("*"))
    for name in ("data_batch_1", "test_batch", "batches.meta"):
        good = (folder / name).read_bytes() if name in BATCHES else None
        for content in hostile_pickles(marker):
            (folder / name).write_bytes(content)
            assert name in refusal(load_cifar10, folder)
        (folder / name).unlink() if good is None else (folder / name).write_bytes(good)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_refused_call_is_named(folder):
    (folder / "data_batch_1").write_bytes(b"\x80\x02cos\nsystem\n(U\x04truetR.")
    assert f"data_batch_1 in {folder} asks to run 'os.system', which was not run" in refusal(load_cifar10, folder)


def test_a_pickle_cannot_change_what_the_next_one_means(made, folder):
    """State set on an allowed name (`BUILD` with attributes) is gone with the pickle that set it."""
    good = (folder / "data_batch_1").read_bytes()
    attributes = b"(N}(U\x04nameU\x03badU\x05stateK\x01ut"
    for allowed in (b"numpy\ndtype", b"numpy\nndarray", b"numpy.core.multiarray\n_reconstruct"):
        (folder / "data_batch_1").write_bytes(b"\x80\x02c" + allowed + b"\n" + attributes + b"b.")
        refusal(load_cifar10, folder)
    (folder / "data_batch_1").write_bytes(good)
    assert same(load_cifar10(folder), expected(made))
