"""The released layout in a requester-pays bucket, and what has been fetched of it."""

import io
import json
import os

import boto3
import numpy as np
from servers import KEY_ID

BUCKET = "madrylab-datamodels"
KEYS = ("data/train_masks_50pct.npy", "data/test_margins_50pct.npy", "datamodels/test_50pct.pt")


class Released:
    """A folder in the released layout, the same in a requester-pays bucket, and the server."""

    def __init__(self, folder, url, door, log):
        self.folder, self.url, self.door, self.log = folder, url, door, log
        os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
        self.client = boto3.client(
            "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=KEY_ID, aws_secret_access_key="s"
        )

    def arguments(self, *more):
        """The paper's configuration, with a split of these few models."""
        return self.config("cifar10", "source.fit_rows=3000", "source.held_out_rows=1000", *more)

    def config(self, name, *more):
        """A configuration of the released data on this server."""
        settings = (
            f"source.endpoint_url={self.url}",
            f"source.images={self.folder}/cifar/images.npz",
            f"report.name={name}",
        )
        return ["--config", name, *(word for s in (*settings, "test.repeats=5", *more) for word in ("--set", s))]

    def put(self, key, content):
        self.client.put_object(Bucket=BUCKET, Key=f"cifar/{key}", Body=content)

    def data_requests(self, part):
        return [r for r in self.log.data(part) if r.status == 206]


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


GOOD_MASKS = npy(np.random.default_rng(7).random((4000, 500)) < 0.5)


def journal(folder):
    """{(object's key, first row, last row + 1)} of everything that is complete."""
    done = set()
    for note in folder.glob("data/objects/*/object.json"):
        name = json.loads(note.read_text())["name"].rpartition("/")[2]
        rows = note.with_name("rows.jsonl")
        for line in rows.read_text().splitlines() if rows.exists() else []:
            start, stop, *_ = json.loads(line)
            done.add((name, start, stop))
    return done
