"""Steps that outlive a kill."""

import numpy as np

from pipeline.store.unfinished_steps import read_step, save_step


def test_every_changed_or_missing_byte_of_a_batch_is_noticed(tmp_path):
    """Of the numbers, of their shapes and of the archive around them."""
    path, arrays = tmp_path / "step.npz", {"lengths": np.arange(3), "values": np.linspace(0, 1, 7)}
    save_step(path, arrays)
    content, damages = path.read_bytes(), []
    found = read_step(path, damages.append)
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    assert damages == []
    changed = [content[:k] + bytes([content[k] ^ 1]) + content[k + 1 :] for k in range(len(content))]
    for wrong in changed + [content[:k] for k in range(len(content))]:
        path.write_bytes(wrong)
        assert read_step(path, damages.append) is None
    assert set(damages) == {f"{path} is damaged (its checksum is another one)"}
    assert len(damages) == 2 * len(content)
