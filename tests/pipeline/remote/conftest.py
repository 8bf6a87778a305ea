"""The released layout, as files and in a bucket on a real server; and no long pauses between attempts."""

from released_fixtures import bucket, no_long_pauses, source

__all__ = ["bucket", "no_long_pauses", "source"]
