"""Servers that say anything: answers from a file of header lines and one of bytes, without a network."""

import io
from unittest.mock import patch

import numpy as np
import requests
import urllib3

HTTP = 'Status: 206\nContent-Range: bytes START-LAST/SIZE\nContent-Length: LENGTH\nETag: "v1"\nRetry-After: 1\n'
S3 = 'Status: 206\nCode: OK\nContentRange: bytes START-LAST/SIZE\nETag: "v1"\nretry-after: 1\nLastModified: today\n'


def make(folder, lines):
    stream = io.BytesIO()
    np.save(stream, np.eye(9, 24, dtype=bool))
    (folder / "answer.txt").write_text(lines, encoding="utf-8")
    (folder / "body.npy").write_bytes(stream.getvalue())


def make_http(folder):
    make(folder, HTTP)


def make_s3(folder):
    make(folder, S3)


class Told:
    """What the files say to one request."""

    def __init__(self, folder, asked):
        body = (folder / "body.npy").read_bytes()
        start, _, last = asked.removeprefix("bytes=").partition("-")
        first, stop = int(start or 0), int(last) + 1 if last else len(body)
        self.body = body[first:stop]
        words = {"START": first, "LAST": min(stop, len(body)) - 1, "SIZE": len(body), "LENGTH": len(self.body)}
        text = (folder / "answer.txt").read_bytes().decode("latin1")
        for word, number in words.items():
            text = text.replace(word, str(number))
        lines = [line.partition(":") for line in text.split("\n") if ":" in line]
        self.headers = {name.strip(): value.strip() for name, _, value in lines if name.strip()}
        status = self.headers.pop("Status", "")
        self.status = int(status) if status.isascii() and status.isdigit() and len(status) < 5 else 206


class Session:
    def __init__(self, folder):
        self.folder = folder

    def get(self, url, headers, stream, timeout):
        told = Told(self.folder, headers.get("Range", ""))
        answer = requests.Response()
        answer.status_code, answer.reason, answer.url = told.status, "as told", url
        answer.headers.update(told.headers)
        answer.raw = urllib3.HTTPResponse(io.BytesIO(told.body), told.headers, told.status, preload_content=False)
        return answer


class Client:
    def __init__(self, folder):
        self.folder = folder

    def get_object(self, Range, **options):
        from botocore.exceptions import ClientError

        told = Told(self.folder, Range)
        if told.status not in (200, 206):
            answer = {"HTTPStatusCode": told.status, "HTTPHeaders": told.headers}
            raise ClientError({"Error": {"Code": told.headers.get("Code")}, "ResponseMetadata": answer}, "GetObject")
        return {**told.headers, "Body": io.BytesIO(told.body)}


def read(remote):
    from pipeline.remote.npy import read_header
    from pipeline.remote.objects import fetch, retry_identify

    with patch("pipeline.remote.objects.FIRST_PAUSE", 0.0), patch("pipeline.remote.patience.LONGEST_PAUSE", 0.0):
        identity = retry_identify(remote)
        header = read_header(remote, identity)
        return header, list(fetch(remote, 0, min(identity.size, 10**6), 4096, lambda n: None))


def read_http(folder):
    from pipeline.remote.http import HttpObject

    remote = HttpObject("https://me:secret@host/a.npy?sig=secret")
    remote._session = Session(folder)
    return read(remote)


def read_s3(folder):
    from pipeline.remote.s3 import Place, S3Object

    return read(S3Object(Client(folder), Place("bucket"), "key", "known keys are a"))
