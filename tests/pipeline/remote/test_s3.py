"""Requester-pays buckets: each refusal has its sentence, errors of the server are tried again."""

import pytest
from command_here import call, ok
from servers import refusal


def corrupt(fault_code, status="403 Forbidden"):
    def fault(environ, note):
        return refusal(fault_code, note, status)

    return fault


REFUSALS = {
    "no credentials": ({"unset": True}, (), None, "no AWS credentials were found"),
    "unknown key id": ({"AWS_ACCESS_KEY_ID": "AKIDOTHER"}, (), None, "credentials were refused (InvalidAccessKeyId)"),
    "missing object": ({}, ("source.percent=10",), None, "or there is no such key"),
    "known keys are named": ({}, ("source.percent=75",), None, "cifar/data/train_masks_{10,20,50,75}pct.npy"),
    "no such bucket": ({}, ("source.bucket=other-bucket",), None, "no bucket 'other-bucket'"),
    "wrong region": ({}, (), corrupt("PermanentRedirect", "301 Moved"), "set source.region"),
    "clock skew": ({}, (), corrupt("RequestTimeTooSkewed"), "the clock of this machine is wrong"),
    "expired": ({}, (), corrupt("ExpiredToken", "400 Bad Request"), "credentials were refused (ExpiredToken)"),
    "overlap": ({}, ("source.fit_rows=3500",), None, "overlap: there are only 4,000 models"),
    "bad endpoint": ({}, ("source.endpoint_url=nonsense",), None, "Invalid endpoint"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_each_refusal_has_its_own_sentence(bucket, tmp_path, monkeypatch, case):
    environment, settings, fault, part = REFUSALS[case]
    for name, value in environment.items():
        if name == "unset":
            monkeypatch.delenv("AWS_ACCESS_KEY_ID")
            monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        else:
            monkeypatch.setenv(name, value)
    if fault:
        bucket.door.faults.append(fault)
    done = call(tmp_path, "run", *bucket.arguments(*settings))
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_errors_of_the_server_are_tried_again(bucket, tmp_path):
    left = {"count": 4}

    def fault(environ, note):
        if left["count"] and environ.get("HTTP_RANGE", "").startswith("bytes=1500"):
            left["count"] -= 1
            return refusal("SlowDown", note, "503 Slow Down")
        return None

    bucket.door.faults.append(fault)
    ok(tmp_path, "download", *bucket.arguments())
    assert left["count"] == 0
