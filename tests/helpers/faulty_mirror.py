"""A server of one file with faults."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """Serves `content`; the k-th request is answered by the k-th of `faults`, the rest well. Logs what was asked."""

    def __init__(self, content, *faults):
        self.content, self.faults, self.log, self.sent = content, list(faults), [], 0
        self.stop = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                owner.log.append(int(asked[1]) if asked else 0)
                assert self.headers["Accept-Encoding"] in ("identity", None)
                fault = owner.faults.pop(0) if owner.faults else serve
                fault(self, owner, owner.log[-1])
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *_: None  # a client that has gone is part of the tests
        self.url = f"http://127.0.0.1:{self.http.server_port}/cifar-10-python.tar.gz"

    def __enter__(self):
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def head(handler, status, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()


def start_answer(handler, owner, start):
    total = len(owner.content)
    if start:
        head(handler, 206, Content_Length=total - start, Content_Range=f"bytes {start}-{total - 1}/{total}")
    else:
        head(handler, 200, Content_Length=total)


def serve(handler, owner, start, upto=None):
    start_answer(handler, owner, start)
    handler.wfile.write(owner.content[start:upto])
    handler.wfile.flush()


def drop_at(upto):
    return lambda handler, owner, start: serve(handler, owner, start, upto)


def hang_at(upto):
    def fault(handler, owner, start):
        serve(handler, owner, start, upto)
        owner.stop.wait(10)

    return fault


def hang_up(handler, owner, start):
    handler.connection.close()


def ignore_range(handler, owner, start):
    serve(handler, owner, 0)


def answer(status):
    return lambda handler, owner, start: handler.send_error(status)


def drip(handler, owner, start):
    start_answer(handler, owner, start)
    while not owner.stop.wait(0.02):
        handler.wfile.write(owner.content[start : start + 1])
        start += 1


def length(n):
    def fault(handler, owner, start):
        head(handler, 200, Content_Length=n)
        handler.wfile.write(owner.content)

    return fault


def no_length(upto=None, repeat=1):
    def fault(handler, owner, start):
        head(handler, 200)
        for _ in range(repeat):
            handler.wfile.write(owner.content[:upto])
            owner.sent += 1

    return fault


def other_part(handler, owner, start):
    total = len(owner.content)
    head(handler, 206, Content_Length=total, Content_Range=f"bytes 0-{total - 1}/{total}")
    handler.wfile.write(owner.content)
