"""Masks and margins by their addresses, from a real server."""

from pathlib import Path

import pytest
from command_here import call, ok
from real_command import table
from released_bucket import KEYS
from servers import http_server

from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.run import Pipeline


def test_http_source_through_the_command(source, tmp_path):
    """Masks and margins from URLs, LASSO on the first rows; with and without checksums; a wrong checksum is refused."""
    import hashlib

    contents = {f"/{key}": (source / "cifar" / key).read_bytes() for key in KEYS}
    digests = [hashlib.sha256(contents[f"/{key}"]).hexdigest() for key in KEYS]
    with http_server(contents) as (url, _):
        settings = [
            "source.kind=http", f"source.masks_url={url}/{KEYS[0]}", f"source.margins_url={url}/{KEYS[1]}?dl=1",
            "source.fit_rows=3000", "source.held_out_rows=1000", f"source.images={source}/cifar/images.npz",
            "test.target_class=dog", "test.repeats=5", "fit.n_lambdas=5", "report.name=digits",
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


@pytest.mark.parametrize("missing", ("masks", "margins"))
def test_both_addresses_must_be_given(missing):
    given = {
        part: f"source.{part}_url=http://127.0.0.1:1/{part}.npy" for part in ("masks", "margins") if part != missing
    }
    with pytest.raises(BadInputError, match=r"source\.masks_url and source.margins_url must be given"):
        load_config("digits", ["source.kind=http", *given.values()])


def test_weights_come_with_it_only_by_their_address():
    arrays = ["source.kind=http", "source.masks_url=http://a/m.npy", "source.margins_url=http://a/y.npy"]
    assert load_config("digits", [*arrays, "source.weights_url=http://a/w.pt", "fit.mode=load"]).fit.mode == "load"
    with pytest.raises(BadInputError, match=r"fit\.file must name"):
        load_config("digits", [*arrays, "fit.mode=load"])


def test_an_address_and_a_checksum_enter_the_key_and_mirrors_of_images_do_not():
    arrays = ["source.kind=http", "source.masks_url=http://a/m.npy", "source.margins_url=http://a/y.npy"]

    def key(*more):
        config = load_config("digits", [*arrays, *more])
        _, download = next(Pipeline(config, Path("store"), Path("reports"), quiet=True).specs())
        return download.key

    others = ("source.masks_url=http://b/m.npy", f"source.margins_sha256={'0' * 64}", "fit.targets=[1]")
    assert len({key(), *map(key, others)}) == 4
    assert key('source.mirrors=["http://127.0.0.1:1/"]') == key("source.bucket=another") == key()


def test_an_address_without_an_object_is_one_sentence(tmp_path):
    with http_server({}) as (url, log):
        words = [f"source.masks_url={url}/m.npy", f"source.margins_url={url}/y.npy", "source.kind=http"]
        done = call(tmp_path, "download", *(word for s in words for word in ("--set", s)))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{url}/m.npy" in done.stderr
    assert {request.path for request in log.requests} == {"/m.npy"}
