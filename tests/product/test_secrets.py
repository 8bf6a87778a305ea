"""Passwords and signatures in addresses, AWS keys and the user's home: planted, and looked for in every byte that a run
leaves or prints."""

import os
from pathlib import Path

import numpy as np
import pytest
from command_here import call
from released_layout import released
from servers import KEY_ID, http_server

from pipeline.config_files import load_config
from pipeline.run import Pipeline

LOGIN = "planted-user:planted-password"
QUERY = "part=1&X-Amz-Credential=planted-id%2Fx&X-Amz-Signature={}&X-Amz-Security-Token=planted-token&sig=planted-sig"
PLANTED = (
    "planted-user",
    "planted-password",
    "planted-id",
    "planted-token",
    "planted-sig",
    "planted-aws",
    "planted-one",
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "planted-home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"{KEY_ID}-planted-aws")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted-aws-secret")
    return folder


class Site:
    """A web server that wants a login, and a signature, which may be renewed."""

    def __init__(self, folder):
        self.files = {
            "/masks.npy": (folder / "data" / "train_masks_50pct.npy").read_bytes(),
            "/margins.npy": (folder / "data" / "test_margins_50pct.npy").read_bytes(),
        }
        self.asked = []

    def fault(self, handler, request, content):
        """The real address must come here, whatever is told elsewhere."""
        self.asked.append((handler.path, handler.headers.get("Authorization")))
        path = handler.path.partition("?")[0]
        body = self.files.get(path)
        if body is None or not handler.headers.get("Authorization") or "planted" not in handler.path:
            handler.answer(request, 403, b"")
            return True
        stop = min(request.stop, len(body)) if request.stop else len(body)
        extra = {"Content-Range": f"bytes {request.start}-{stop - 1}/{len(body)}"}
        handler.answer(request, 206, body[request.start : stop], extra)
        return True


def words(url, home, signature):
    site = url.replace("http://", f"http://{LOGIN}@")
    settings = [
        "source.kind=http",
        *(f"source.{part}_url={site}/{part}.npy?{QUERY.format(signature)}" for part in ("masks", "margins")),
        f"source.images={home}/cifar/images.npz", "source.fit_rows=200", "source.held_out_rows=100",
        "test.target_class=dog", "test.repeats=3", "fit.n_lambdas=5", "report.max_panels=1",
    ]  # fmt: skip
    return [word for setting in settings for word in ("--set", setting)]


def leaks(folder, secrets):
    """Files that hold a secret in their content or name."""
    return [
        (path, secret)
        for path in folder.rglob("*")
        if path.is_file()
        for secret in secrets
        if secret.encode() in path.read_bytes() or secret in path.name
    ]


def test_no_secret_is_in_any_file_or_output(tmp_path, home):
    released(home / "cifar")
    site = Site(home / "cifar")
    elsewhere = tmp_path / "run"
    elsewhere.mkdir()
    with http_server({}, fault=site.fault) as (url, _):
        said = []
        for signature in ("planted-one", "planted-one-renewed"):
            options = words(url, home, signature)
            for command in ("check", "run", "status", "findings", "config show"):
                done = call(elsewhere, *command.split(), *options)
                assert done.returncode == 0, done.stderr
                said += [done.stdout, done.stderr]
        broken = [word.replace("/masks.npy", "/gone.npy") for word in words(url, home, "planted-one")]
        refused = call(elsewhere, "download", *broken)
        unreachable = call(elsewhere, "download", *[word.replace(url[7:], "127.0.0.1:x") for word in broken])
    assert (refused.returncode, unreachable.returncode) == (2, 2)
    printed = "\n".join([*said, refused.stderr, unreachable.stderr])
    secrets = (*PLANTED, str(home), "planted-home")
    assert not leaks(elsewhere, secrets)
    assert not [secret for secret in secrets if secret in printed]
    assert "~/cifar/images.npz" in printed
    assert any("planted-one-renewed" in path for path, _ in site.asked) is False  # The same file: not fetched again.
    assert all(login for _, login in site.asked)


def test_what_is_looked_for_would_be_found(tmp_path):
    (tmp_path / "planted-sig").write_bytes(b"")
    (tmp_path / "b").write_bytes(b"\x00planted-password")
    assert len(leaks(tmp_path, PLANTED)) == 2


def test_a_renewed_signature_changes_no_key_and_no_name_and_another_file_does():
    def keys(query, login="me:one"):
        url = f"https://{login}@host/masks.npy?{query}"
        changes = ["source.kind=http", f"source.masks_url={url}", "source.margins_url=http://a/y.npy"]
        config = load_config("digits", changes)
        return next(Pipeline(config, Path("store"), Path("reports")).specs())[1].key, config.report.name

    assert keys("v=1&sig=a&se=2026") == keys("v=1&sig=b&se=2027", "me:two")
    assert len({keys("v=1&sig=a"), keys("v=2&sig=a")}) == 2


def test_aws_keys_of_the_environment_are_in_no_sentence(tmp_path, home, monkeypatch):
    monkeypatch.setattr("pipeline.remote.objects.FIRST_PAUSE", 0.0)
    settings = ["source.kind=madrylab", "source.endpoint_url=http://127.0.0.1:9", "source.labels=labels.npz"]
    np.savez(tmp_path / "labels.npz", train_labels=[0, 1], target_labels=[0], class_names=["a", "b"])
    done = call(tmp_path, "download", "--dry-run", *(word for s in settings for word in ("--set", s)))
    assert done.returncode == 2
    assert "planted-aws" not in done.stdout + done.stderr
    assert not leaks(tmp_path, ("planted-aws",))
    assert "planted-aws" in os.environ["AWS_ACCESS_KEY_ID"]
