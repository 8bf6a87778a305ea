"""Real servers on loopback, with a log and with faults: S3 (moto) that is requester-pays, and plain HTTP."""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY_ID, SECRET = "AKIDEXAMPLE", "secret"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY_ID,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
}


@dataclass
class Request:
    """One GET as the server saw it: the range asked for, the status, how many bytes of the body went out, the port of
    the client, which tells connections apart."""

    path: str
    start: int
    stop: int
    status: int
    sent: int = 0
    port: int = 0


@dataclass
class Log:
    requests: list[Request] = field(default_factory=list)

    def data(self, part):
        """Requests for more than a header."""
        return [r for r in self.requests if part in r.path and r.stop - r.start > 128]


def refusal(code, start_response, status="403 Forbidden"):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>".encode()
    start_response(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
    return [body]


class RequesterPays:
    """Moto behind a door: signed requests of a known key only, with the requester-pays header; no key is ever 404.

    `faults` is a list of callables (environ, log) → response or None, asked before moto is.
    """

    def __init__(self, application, log):
        self.application = application
        self.log = log
        self.faults = []
        self.delay = 0.0

    def __call__(self, environ, start_response):
        if environ["REQUEST_METHOD"] != "GET":
            return self.application(environ, start_response)
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", environ.get("HTTP_RANGE", ""))
        request = Request(environ["PATH_INFO"], *(int(found[1]), int(found[2]) + 1) if found else (0, 0), 0)
        self.log.requests.append(request)

        def note(status, headers, exc_info=None):
            request.status = int(status.split()[0])
            return start_response(status, headers)

        signature = environ.get("HTTP_AUTHORIZATION", "")
        if not signature.startswith("AWS4-HMAC-SHA256") or environ.get("HTTP_X_AMZ_REQUEST_PAYER") != "requester":
            return refusal("AccessDenied", note)
        if f"Credential={KEY_ID}/" not in signature:
            return refusal("InvalidAccessKeyId", note)
        for fault in list(self.faults):
            answer = fault(environ, note)
            if answer is not None:
                return answer
        return self._answer(environ, note, request)

    def _answer(self, environ, note, request):
        captured = []

        def hold(status, headers, exc_info=None):
            captured.append((status, headers))
            return lambda data: None

        body = b"".join(self.application(environ, hold))
        status, headers = captured[0]
        if status.startswith("404") and b"NoSuchBucket" not in body:
            return refusal("AccessDenied", note)
        note(status, headers)
        return self._pieces(body, request)

    def _pieces(self, body, request):
        for start in range(0, len(body), 1 << 16):
            time.sleep(self.delay)
            piece = body[start : start + (1 << 16)]
            yield piece
            request.sent += len(piece)


@contextmanager
def s3_server():
    """(endpoint URL, the door, its log)."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log(self, *args, **kwargs):
            pass

    log = Log()
    door = RequesterPays(DomainDispatcherApplication(create_backend_app), log)
    server = make_server("127.0.0.1", 0, door, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", door, log
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@contextmanager
def http_server(files, *, ranges=True, fault=None):
    """(base URL, log) of a server of `files`, {path: bytes}; `fault(handler, request, body)` may answer instead."""
    log = Log()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def do_GET(self):
            content = files.get(self.path)
            found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            request = Request(self.path, *((int(found[1]), int(found[2]) + 1) if found else (0, 0)), 200)
            request.port = self.client_address[1]
            log.requests.append(request)
            if fault is not None and fault(self, request, content):
                return
            if content is None:
                self.answer(request, 404, b"")
            elif found and ranges:
                stop = min(request.stop, len(content))
                extra = {"Content-Range": f"bytes {request.start}-{stop - 1}/{len(content)}"}
                self.answer(request, 206, content[request.start : stop], extra)
            else:
                self.answer(request, 200, content)

        def answer(self, request, status, body, headers=None, length=None):
            request.status = status
            self.send_response(status)
            for name, value in {"ETag": '"v1"', **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            try:
                self.wfile.write(body)
                request.sent = len(body)
            except OSError:
                self.close_connection = True

        def drop(self):
            """Break the connection without another word."""
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", log
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
