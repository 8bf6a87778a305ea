"""Masks and margins by their addresses, from a real server."""

from command_here import call, ok
from real_command import table
from released_bucket import KEYS
from servers import http_server


def test_http_source_through_the_command(source, tmp_path):
    """Masks and margins from URLs, LASSO on the first rows; with and without checksums; a wrong checksum is refused."""
    import hashlib

    contents = {f"/{key}": (source / "cifar" / key).read_bytes() for key in KEYS}
    digests = [hashlib.sha256(contents[f"/{key}"]).hexdigest() for key in KEYS]
    with http_server(contents) as (url, _):
        settings = [
            "source.kind=http", f"source.masks_url={url}/{KEYS[0]}", f"source.margins_url={url}/{KEYS[1]}?dl=1",
            "source.fit_rows=3000", "source.held_out_rows=1000", f"source.images={source}/cifar/images.npz",
            "test.target_class=dog", "test.repeats=5", "fit.n_lambdas=5",
        ]  # fmt: skip
        contents[f"/{KEYS[1]}?dl=1"] = contents[f"/{KEYS[1]}"]
        words = [word for s in settings for word in ("--set", s)]
        ok(tmp_path, "run", *words)
        checked = ["--set", f"source.masks_sha256={digests[0]}", "--set", f"source.margins_sha256={digests[1]}"]
        ok(tmp_path, "run", *words, *checked, "--set", "report.name=checked")
        assert table(tmp_path / "reports" / "checked" / "tests.csv") == table(
            tmp_path / "reports" / "digits" / "tests.csv"
        )
        done = call(tmp_path, "run", *words, "--set", f"source.masks_sha256={'0' * 64}")
        assert done.returncode == 2
        assert "has not the sha256" in done.stderr
        weights = ["--set", f"source.weights_url={url}/{KEYS[2]}", "--set", "fit.mode=load"]
        ok(tmp_path, "run", *words, *weights)
