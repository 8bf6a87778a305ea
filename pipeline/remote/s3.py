"""Objects in S3, requester pays: signed with the user's own AWS credentials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.errors import BadInputError
from pipeline.remote.answers import whole_size
from pipeline.remote.failures import ChangedError, RemoteError, TransientError, UnreachableError
from pipeline.remote.objects import PIECE, Identity
from pipeline.remote.patience import seconds_asked
from pipeline.remote.pieces import read_pieces

TRANSIENT_CODES = {"InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "500", "502", "503", "504"}
UNREACHABLE = ("EndpointConnectionError", "ConnectTimeoutError")
HUNG_UP = ("ReadTimeoutError", "ConnectionClosedError", "ResponseStreamingError")
SILENCE = 60
REFUSALS = (
    (
        {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "AuthFailure"},
        "{name}: your AWS credentials were refused ({code}); renew them, or choose another AWS_PROFILE.",
    ),
    (
        {"RequestTimeTooSkewed"},
        "{name}: the clock of this machine is wrong ({code}); set it and run the command again.",
    ),
    ({"NoSuchBucket"}, "{name}: there is no bucket {bucket!r} at this endpoint; check source.bucket."),
    (
        {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301"},
        "{name}: the bucket is in another region ({code}); set source.region to it.",
    ),
    ({"NoSuchKey", "404"}, "{name} does not exist; {known}."),
    (
        {"AccessDenied", "403"},
        "{name} was refused (403): either your AWS user may not read requester-pays buckets (it needs s3:GetObject), "
        "or there is no such key, which this bucket answers in the same way; {known}.",
    ),
)
"""The codes of S3's answers, and the sentence with the remedy for each."""


@dataclass(frozen=True)
class Place:
    """Where the objects are; None for the endpoint and the region means AWS's own."""

    bucket: str
    endpoint_url: str | None = None
    region: str | None = None


def make_client(place: Place, connections: int) -> Any:
    """A client on the user's ordinary credential chain: environment, ~/.aws, roles."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    try:
        session = boto3.session.Session()
        if session.get_credentials() is None:
            raise BadInputError(NO_CREDENTIALS)
        config = Config(
            max_pool_connections=connections,
            connect_timeout=10,
            read_timeout=SILENCE,
            retries={"total_max_attempts": 1},  # `fetch` keeps what has arrived; botocore would begin anew.
            s3={"addressing_style": "path"} if place.endpoint_url else None,
        )
        region = place.region or session.region_name or "us-east-1"
        return session.client("s3", endpoint_url=place.endpoint_url, region_name=region, config=config)
    except (BotoCoreError, ValueError) as error:
        raise BadInputError(f"the AWS settings cannot be used: {' '.join(str(error).split())}") from error


HOW_TO_GIVE_THEM = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`"
NO_CREDENTIALS = f"no AWS credentials were found, and this bucket is requester-pays: {HOW_TO_GIVE_THEM}."


class S3Object:
    """One key. `known` names keys that exist, for the sentence about a 403 that may mean that this one does not."""

    def __init__(self, client: Any, place: Place, key: str, known: str) -> None:
        self._client = client
        self._place = place
        self._key = key
        self._known = known
        self._etag = ""

    @property
    def name(self) -> str:
        """Bucket and key."""
        return f"s3://{self._place.bucket}/{self._key}"

    def identify(self) -> Identity:
        """Size and tag, from a request for one byte."""
        answer = self._get(Range="bytes=0-0")
        self._etag = str(answer.get("ETag", ""))
        size = whole_size(str(answer.get("ContentRange", "")).rpartition("/")[2])
        if size is None:
            answer["Body"].close()
            raise RemoteError(f"{self.name}: the server does not serve byte ranges; use another source.endpoint_url.")
        next(_pieces(answer["Body"], 1), None)  # A connection is used again once its answer is read.
        return Identity(size, self._etag or str(answer.get("LastModified", "")))

    def stream(self, start: int, stop: int, length: int) -> Iterator[bytes]:
        """The bytes start..stop−1."""
        match = {"IfMatch": self._etag} if self._etag else {}
        answer = self._get(Range=f"bytes={start}-{stop - 1}", **match)
        if not str(answer.get("ContentRange", "")).startswith(f"bytes {start}-"):
            raise RemoteError(f"{self.name}: the server does not serve byte ranges; use another source.endpoint_url.")
        if self._etag and answer.get("ETag", self._etag) != self._etag:
            raise ChangedError(self.name)  # The server passes over If-Match.
        yield from _pieces(answer["Body"], length)

    def stream_whole(self, stop: int) -> Iterator[bytes]:
        """The bytes up to stop−1."""
        return self.stream(0, stop, PIECE)

    def _get(self, **arguments: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        try:
            answer: dict[str, Any] = self._client.get_object(
                Bucket=self._place.bucket, Key=self._key, RequestPayer="requester", **arguments
            )
            return answer
        except ClientError as error:
            raise self._explain(error) from error
        except NoCredentialsError as error:
            raise RemoteError(NO_CREDENTIALS) from error
        except BotoCoreError as error:
            kind = type(error).__name__
            if kind in UNREACHABLE:
                raise UnreachableError(error) from error
            if kind in HUNG_UP:
                raise TransientError(f"the connection broke: {kind}") from error
            raise RemoteError(f"{self.name}: {' '.join(str(error).split())}") from error

    def _explain(self, error: Any) -> Exception:
        """Each refusal has its own sentence and remedy."""
        code = str(error.response.get("Error", {}).get("Code", ""))
        answer = error.response.get("ResponseMetadata", {})
        status = int(answer.get("HTTPStatusCode", 0))
        if code in TRANSIENT_CODES or status >= 500:
            wait = seconds_asked(answer.get("HTTPHeaders", {}).get("retry-after", ""))
            return TransientError(f"it answers {status} {code}", wait)
        if code in ("PreconditionFailed", "412"):
            return ChangedError(self.name)
        for codes, sentence in REFUSALS:
            if code in codes:
                facts = {"name": self.name, "code": code, "bucket": self._place.bucket, "known": self._known}
                return RemoteError(sentence.format(**facts))
        return RemoteError(f"{self.name} was refused ({status} {code}).")


def _pieces(body: Any, length: int) -> Iterator[bytes]:
    from botocore.exceptions import BotoCoreError
    from urllib3.exceptions import HTTPError

    return read_pieces(body.read, length, silence=SILENCE, broken=(BotoCoreError, HTTPError, OSError))
