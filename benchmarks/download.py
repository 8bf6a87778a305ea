"""Throughput of the ranged download, packing included, against curl from the same loopback server; and its memory.

    python benchmarks/download.py [--gb 1.0] [--repeats 3]

A server process sends ranges of a file of bool masks (50,000 columns) with sendfile. curl fetches the whole file to
/dev/null and to a file; ours fetches it by ranges, checks that it holds 0 and 1, packs it to bits, writes and checksums
it. They take turns, each with nothing of the turn before left to be written to the disk; rates are medians, ratios
medians of the ratios within a turn. With --url the server is another one, of a file that this benchmark has made with
--make. Goals: at least 0.7 of curl's rate, below 500 MB of memory whatever the size of the file.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

COLUMNS = 50_000


class SendFile(BaseHTTPRequestHandler):
    """Ranges of one file."""

    protocol_version = "HTTP/1.1"
    path_to_file: Path

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        size = self.path_to_file.stat().st_size
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        start, stop = (int(found[1]), min(int(found[2]) + 1, size)) if found else (0, size)
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        self.wfile.flush()
        with self.path_to_file.open("rb") as file:
            self.connection.sendfile(file, start, stop - start)


def serve(path: Path) -> None:
    SendFile.path_to_file = path
    server = ThreadingHTTPServer(("127.0.0.1", 0), SendFile)
    print(server.server_port, flush=True)
    server.serve_forever()


def ours(url: str, folder: Path) -> None:
    """One download in a process of its own: prints seconds and the largest resident memory in MB."""
    from pipeline.remote.fetch import Need, fetch_missing
    from pipeline.remote.http import HttpObject
    from pipeline.remote.mirror import Mirror
    from pipeline.remote.npy import read_header
    from pipeline.remote.objects import retry_identify
    from pipeline.sources.fetch_plan import mask_rows

    start = time.perf_counter()
    remote = HttpObject(url)
    identity = retry_identify(remote)
    header = read_header(remote, identity)
    mirror = Mirror(folder, remote.name, identity, mask_rows(remote, header), "masks")
    fetch_missing(Need("masks", remote, mirror, ((0, header.n_rows),)), lambda n: None)
    seconds = time.perf_counter() - start
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())  # ru_maxrss would be the parent's.
    print(seconds, int(peak[1]) / 1000 if peak else float("nan"))


def make_file(path: Path, n_bytes: float) -> int:
    n_rows = max(1, int(n_bytes / COLUMNS))
    masks = np.lib.format.open_memmap(path, mode="w+", dtype=np.bool_, shape=(n_rows, COLUMNS))
    rng = np.random.default_rng(0)
    for row in range(0, n_rows, 500):
        block = masks[row : row + 500]
        block[:] = rng.integers(0, 2, block.shape, np.uint8)
    masks.flush()
    return path.stat().st_size


def run(arguments: list[str]) -> str:
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--make", type=Path, help="only write the file of masks")
    parser.add_argument("--url", help="fetch from this server")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ours", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    if options.ours:
        ours(options.ours[0], Path(options.ours[1]))
        return
    if options.make:
        make_file(options.make, options.gb * 1e9)
        return
    with tempfile.TemporaryDirectory() as name:
        if options.url:
            compare(options.url, Path(name), options.repeats)
        else:
            compare_loopback(Path(name), options.gb, options.repeats)


def compare_loopback(folder: Path, gb: float, repeats: int) -> None:
    make_file(folder / "masks.npy", gb * 1e9)
    command = [sys.executable, __file__, "--serve", folder / "masks.npy"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            compare(f"http://127.0.0.1:{server.stdout.readline().strip()}/masks.npy", folder, repeats)
        finally:
            server.kill()


def compare(url: str, folder: Path, repeats: int) -> None:
    nowhere, file, mine, memory = [], [], [], []
    for _ in range(repeats):
        size, seconds = curl(url, Path("/dev/null"))
        nowhere.append(size / seconds / 1e6)
        size, seconds = curl(url, folder / "copy")
        file.append(size / seconds / 1e6)
        (folder / "copy").unlink()
        os.sync()
        seconds, peak = map(float, run([sys.executable, __file__, "--ours", url, str(folder / "ours")]).split())
        mine.append(size / seconds / 1e6)
        memory.append(peak)
        shutil.rmtree(folder / "ours")
    print(f"{size / 1e9:.2f} GB of masks, medians of {repeats}:")
    print(f"  curl to /dev/null           {statistics.median(nowhere):7.0f} MB/s")
    print(f"  curl to a file              {statistics.median(file):7.0f} MB/s")
    print(f"  ours, packed and checked    {statistics.median(mine):7.0f} MB/s")
    print(f"  ours / curl to /dev/null    {ratios(mine, nowhere)} (goal 0.70)")
    print(f"  ours / curl to a file       {ratios(mine, file)}")
    print(f"  peak memory                 {max(memory):7.0f} MB (goal 500)")


def curl(url: str, out: Path) -> tuple[float, float]:
    """Bytes and seconds of one download."""
    os.sync()
    size, seconds = run(["curl", "-s", "-o", str(out), "-w", "%{size_download} %{time_total}", url]).split()
    return float(size), float(seconds)


def ratios(mine: list[float], theirs: list[float]) -> str:
    values = sorted(m / t for m, t in zip(mine, theirs, strict=True))
    return f"{statistics.median(values):7.2f}, {values[0]:.2f} to {values[-1]:.2f}"


if __name__ == "__main__":
    main()
