"""Loopback servers in place of the hosts that commands fetch from: MadryLab's bucket, a free set, CIFAR-10."""

import json
import os
from contextlib import contextmanager

from released_bucket import BUCKET, KEYS, Released
from released_layout import released
from servers import ENVIRONMENT, http_server, s3_server
from small_cifar10 import Small

ROWS = 60
"""Images in each of the six batches of a small CIFAR-10: 300 to train on, 60 targets."""
MODELS = 1500


@contextmanager
def hosts(folder):
    """Variables that point commands at the servers."""
    folder.mkdir()
    small = Small(folder, ROWS)
    released(folder / "cifar", n=MODELS, d=5 * ROWS, targets=ROWS)
    files = {
        "/cifar-10-python.tar.gz": small.archive,
        "/mask.npy": (folder / "cifar" / KEYS[0]).read_bytes(),
        "/val_margins.npy": (folder / "cifar" / KEYS[1]).read_bytes(),
    }
    known = {
        name: getattr(small.known, name) for name in ("archive_md5", "archive_bytes", "npm_sha256", "images_sha256")
    }
    with s3_server() as (s3, door, log), http_server(files) as (http, _):
        bucket = Released(folder, s3, door, log)
        bucket.client.create_bucket(Bucket=BUCKET)
        for key in KEYS:
            bucket.put(key, (folder / "cifar" / key).read_bytes())
        yield {
            **ENVIRONMENT, "AWS_ENDPOINT_URL_S3": s3, "HTTP": http, "DOCUMENTED_KNOWN": json.dumps(known),
            "DOCUMENTED_BEFORE": "documented_hosts:point", "CIFAR10": str(small.folder),
        }  # fmt: skip


def point():
    """In the process of a command: CIFAR-10 is the small one of our server."""
    import pipeline.commands.train as train
    import pipeline.images.find as find
    from pipeline.images.checksums import CIFAR10

    for name, value in json.loads(os.environ["DOCUMENTED_KNOWN"]).items():
        object.__setattr__(CIFAR10, name, value)
    find.DEFAULT_MIRRORS = (f"{os.environ['HTTP']}/cifar-10-python.tar.gz",)
    train.UNLABELLED = ROWS
    find.get_images.__kwdefaults__["mirrors"] = find.DEFAULT_MIRRORS
