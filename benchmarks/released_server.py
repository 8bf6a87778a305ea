"""A requester-pays bucket on loopback that holds MadryLab's release, made on the fly (`released_law`).

    python benchmarks/released_server.py '{"models": 310000, …}'

It prints its port once it is ready. Ranges are served as S3 does: signed requests with the requester-pays header only,
403 for a key that is not there, `If-Match`. `GET /log` says what was sent. A process of its own, with one thread a
connection: its work must not be counted as that of the command it serves.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Before numpy comes: what the command needs is not taken from it.

import numpy as np
from numpy.typing import DTypeLike, NDArray
from released_law import Law, Sizes

BUCKET = "madrylab-datamodels"
MASKS, MARGINS, WEIGHTS = KEYS = (
    "cifar/data/train_masks_50pct.npy",
    "cifar/data/test_margins_50pct.npy",
    "cifar/datamodels/test_50pct.pt",
)
BLOCK = 2 * 2**20
"""Bytes that are made at a time."""
HEADER = 128
"""A request for no more than this is for a size or a header, not for rows."""


@dataclass(frozen=True)
class Rows:
    """Rows of one length, of which any range can be made."""

    n_rows: int
    row_bytes: int
    make: Callable[[int, int], NDArray[Any]]

    @property
    def size(self) -> int:
        """In bytes."""
        return self.n_rows * self.row_bytes

    def pieces(self, start: int, stop: int) -> Iterator[memoryview]:
        """The bytes start..stop−1."""
        step = max(1, BLOCK // self.row_bytes)
        for first in range(start // self.row_bytes, -(-stop // self.row_bytes), step):
            last = min(first + step, self.n_rows)
            content = memoryview(np.ascontiguousarray(self.make(first, last)).view(np.uint8)).cast("B")
            origin = first * self.row_bytes
            yield content[max(0, start - origin) : max(0, stop - origin)]


@dataclass(frozen=True)
class Content:
    """A file of bytes at its start and its end, and rows between them."""

    start: bytes
    rows: Rows
    end: bytes = b""

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.start) + self.rows.size + len(self.end)

    def pieces(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        """The bytes start..stop−1."""
        first, last = len(self.start), len(self.start) + self.rows.size
        if start < first:
            yield self.start[start:stop]
        if start < last and stop > first:
            yield from self.rows.pieces(max(start - first, 0), min(stop, last) - first)
        if stop > last:
            yield self.end[max(start - last, 0) : stop - last]


def npy_file(n_rows: int, n_columns: int, dtype: DTypeLike, make: Callable[[int, int], NDArray[Any]]) -> Content:
    """As `numpy.save` writes it."""
    stream = io.BytesIO()
    kind = np.dtype(dtype)
    fields = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": (n_rows, n_columns)}
    np.lib.format.write_array_header_1_0(stream, fields)
    return Content(stream.getvalue(), Rows(n_rows, n_columns * kind.itemsize, make))


class _Sink(io.RawIOBase):
    """Where a zip file is written to: what comes while `skipping` is counted and not kept."""

    def __init__(self) -> None:
        self.parts = [bytearray(), bytearray()]
        self.skipping = False
        self.position = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        view = memoryview(content)
        if not self.skipping:
            self.parts[self.position > len(self.parts[0])] += view
        self.position += view.nbytes
        return view.nbytes


def pt_file(law: Law) -> Content:
    """The weights as `torch.save` writes a dict of `weight`, `bias` and `lam`: a zip of a pickle and three storages."""
    sizes, sink = law.sizes, _Sink()
    rows = Rows(sizes.images, 4 * sizes.targets, law.weights)
    with zipfile.ZipFile(sink, "w") as archive:  # Its length is below 4 GiB at true size.
        archive.writestr("test_50pct/data.pkl", _pickle(sizes))
        archive.writestr("test_50pct/byteorder", "little")
        with archive.open(zipfile.ZipInfo("test_50pct/data/0"), "w") as storage:
            sink.skipping = True
            for piece in rows.pieces(0, rows.size):  # All of it once, for its checksum.
                storage.write(piece)
            sink.skipping = False
        archive.writestr("test_50pct/data/1", law.bias.tobytes())
        archive.writestr("test_50pct/data/2", np.full(sizes.targets, 0.01, np.float32).tobytes())
        archive.writestr("test_50pct/version", "3\n")
    return Content(bytes(sink.parts[0]), rows, bytes(sink.parts[1]))


def _pickle(sizes: Sizes) -> bytes:
    """The dict of three tensors, opcode by opcode: torch is not needed, and nothing of 2 GB is made to be described."""

    def text(word: str) -> bytes:
        return b"X" + len(word).to_bytes(4, "little") + word.encode()

    def whole(number: int) -> bytes:
        return b"J" + number.to_bytes(4, "little", signed=True)

    def many(numbers: tuple[int, ...]) -> bytes:
        return b"(" + b"".join(map(whole, numbers)) + b"t"

    def tensor(storage: int, shape: tuple[int, ...]) -> bytes:
        count = int(np.prod(shape))
        kept = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(storage)) + text("cpu") + whole(count)
        strides = (shape[1], 1) if len(shape) == 2 else (1,)
        no_hooks = b"ccollections\nOrderedDict\n)R"
        arguments = b"(" + kept + b"tQ" + whole(0) + many(shape) + many(strides) + b"\x89" + no_hooks + b"t"
        return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"

    shapes = {"weight": (sizes.images, sizes.targets), "bias": (sizes.targets,), "lam": (sizes.targets,)}
    items = b"".join(text(name) + tensor(k, shape) for k, (name, shape) in enumerate(shapes.items()))
    return b"\x80\x02}(" + items + b"u."


def release(sizes: Sizes) -> dict[str, Content]:
    """The objects of the bucket, by key."""
    law = Law(sizes)
    return {
        MASKS: npy_file(sizes.models, sizes.images, np.bool_, law.masks),
        MARGINS: npy_file(sizes.models, sizes.targets, np.float16, law.margins),
        WEIGHTS: pt_file(law),
    }


@dataclass
class Sent:
    """One answer: of which key, from which byte on, how many; when it began and ended, by the machine's clock."""

    key: str
    start: int
    length: int
    began: float
    ended: float = 0.0


class Handler(BaseHTTPRequestHandler):
    """GET of ranges."""

    protocol_version = "HTTP/1.1"
    contents: dict[str, Content]
    log: list[Sent]

    def log_message(self, *args: object) -> None:
        """Nothing: a terminal is being watched."""

    def do_GET(self) -> None:
        """A range of an object, or the log."""
        if self.path == "/log":
            self._answer(200, json.dumps([asdict(sent) for sent in self.log]).encode())
            return
        content = self.contents.get(self.path.partition("?")[0].removeprefix(f"/{BUCKET}/"))
        signed = self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256")
        if content is None or not signed or self.headers.get("x-amz-request-payer") != "requester":
            self._answer(403, b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>")
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        start, stop = (int(asked[1]), min(int(asked[2]) + 1, content.size)) if asked else (0, content.size)
        sent = Sent(self.path.removeprefix(f"/{BUCKET}/"), start, stop - start, time.monotonic())
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{content.size}")
        self.send_header("ETag", '"made"')
        self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        for piece in content.pieces(start, stop):
            self.wfile.write(piece)
        sent.ended = time.monotonic()
        self.log.append(sent)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until whoever started this closes its input."""
    Handler.contents = release(Sizes(**json.loads(sys.argv[1])))
    for content in Handler.contents.values():  # Compiled before the first request.
        list(content.rows.pieces(0, 1))
    Handler.log = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
