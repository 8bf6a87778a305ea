"""MadryLab's released data: an S3 bucket whose requester pays (docs/data.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import BadInputError, StoppedEarly
from pipeline.sources.base import Arrived, SourceKind
from pipeline.sources.network_content import LEFT_OUT, content, weights_needed

if TYPE_CHECKING:
    from pipeline.config import Config, Source
    from pipeline.sources.fetch_plan import Remotes
    from pipeline.stages.base import Run

USD_PER_GB = 0.09
NAMES = "train_masks_{}pct.npy", "test_margins_{}pct.npy", "test_{}pct.pt"
FOLDERS = "data", "data", "datamodels"


def _bring(run: Run) -> Arrived:
    from pipeline.sources.network import bring

    return bring(run, lambda: _reached(run))


def _reached(run: Run) -> Remotes:
    """The objects; without credentials, a word on what they would cost before the sentence that asks for these.

    A dry run asks for no more than that word.
    """
    from pipeline.remote.s3 import HOW_TO_GIVE_THEM, NO_CREDENTIALS
    from pipeline.sources.released_sizes import expected_sentence

    try:
        return _remotes(run.config)
    except BadInputError as error:
        sentence = expected_sentence(run.config, USD_PER_GB)
        if sentence:
            run.say(sentence)
        if sentence and run.dry_run and str(error) == NO_CREDENTIALS:
            needs = f"a real run needs AWS credentials ({HOW_TO_GIVE_THEM})"
            raise StoppedEarly(f"dry run: nothing was fetched; {needs}.") from error
        raise


def _remotes(config: Config) -> Remotes:
    from pipeline.remote.fetch import CONNECTIONS
    from pipeline.remote.s3 import Place, S3Object, make_client
    from pipeline.sources.fetch_plan import Remotes

    source = config.source
    place = Place(source.bucket, source.endpoint_url, source.region)
    client = make_client(place, CONNECTIONS)

    known = f"known keys are {', '.join(_keys(source, '{10,20,50,75}'))}"
    masks, margins, weights = (S3Object(client, place, key, known) for key in _keys(source, source.percent))
    return Remotes(masks, margins, weights if weights_needed(config) else None, usd_per_gb=USD_PER_GB)


def _keys(source: Source, percent: object) -> list[str]:
    """Of masks, margins and weights."""
    return [f"{source.prefix}/{folder}/{name.format(percent)}" for folder, name in zip(FOLDERS, NAMES, strict=True)]


def _fetched(config: Config) -> tuple[str, ...]:
    keys = _keys(config.source, config.source.percent)[: 3 if weights_needed(config) else 2]
    return tuple(f"s3://{config.source.bucket}/{key}" for key in keys)


SOURCE = SourceKind(
    "madrylab",
    "the released data, from S3",
    ("bucket", "prefix", "endpoint_url", "region", "percent", "images", "mirrors"),
    content,
    _bring,
    left_out={**LEFT_OUT, "region": "where the bucket is, not what it holds"},
    brings_weights=lambda source: True,
    fetched=_fetched,
)
