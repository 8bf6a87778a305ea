"""The bucket on loopback: its files are what numpy and torch read, in any range, and for a payer only."""

import io
import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest
import torch
from released_law import Law, Sizes
from released_server import BUCKET, KEYS, MARGINS, MASKS, WEIGHTS, release
from true_size import served

SIZES = Sizes(models=300, held_out=100, images=64, targets=24, groups=8)
PAYER = {"Authorization": "AWS4-HMAC-SHA256 Credential=AKID/", "x-amz-request-payer": "requester"}


@pytest.fixture(scope="module")
def files():
    return {key: b"".join(map(bytes, content.pieces(0, content.size))) for key, content in release(SIZES).items()}


def test_numpy_and_torch_read_them(files):
    law = Law(SIZES)
    masks, margins = (np.load(io.BytesIO(files[key])) for key in (MASKS, MARGINS))
    assert (masks.dtype, margins.dtype) == (np.bool_, np.float16)
    np.testing.assert_array_equal(masks, law.masks(0, SIZES.models))
    np.testing.assert_array_equal(margins, law.margins(0, SIZES.models))
    found = torch.load(io.BytesIO(files[WEIGHTS]), weights_only=True)
    assert list(found) == ["weight", "bias", "lam"]
    np.testing.assert_array_equal(found["weight"], law.weights(0, SIZES.images))
    np.testing.assert_array_equal(found["bias"], law.bias)
    assert found["lam"].shape == (SIZES.targets,)


@pytest.mark.parametrize("key", KEYS)
def test_any_range_is_that_of_the_whole(files, key):
    content, whole = release(SIZES)[key], files[key]
    assert content.size == len(whole)
    rng = np.random.default_rng(0)
    edges = (0, 1, len(content.start), len(content.start) + content.rows.size, content.size)
    drawn = rng.integers(0, content.size + 1, (100, 2)).tolist()
    for start, stop in [(a, b) for a in edges for b in edges if a <= b] + [sorted(pair) for pair in drawn]:
        assert b"".join(map(bytes, content.pieces(start, stop))) == whole[start:stop]


def test_ranges_go_to_a_payer_and_are_noted(files):
    with served(SIZES) as url:
        asked = Request(f"{url}/{BUCKET}/{MASKS}", headers={**PAYER, "Range": "bytes=100-299"})
        with urlopen(asked) as answer:
            assert (answer.status, answer.headers["Content-Range"]) == (206, f"bytes 100-299/{len(files[MASKS])}")
            assert answer.read() == files[MASKS][100:300]
        for address, headers in ((MASKS, {}), (MASKS, {"Authorization": "AWS4-HMAC-SHA256 x"}), ("cifar/none", PAYER)):
            with pytest.raises(HTTPError, match="403"):
                urlopen(Request(f"{url}/{BUCKET}/{address}", headers=headers))
        with urlopen(f"{url}/log") as answer:
            (sent,) = json.load(answer)
    assert (sent["key"], sent["start"], sent["length"]) == (MASKS, 100, 200)
    assert sent["began"] <= sent["ended"]
