"""What lives elsewhere: fetched by byte ranges, packed while it streams, and never fetched twice.

Kinds of servers: `http` (with `answers`) and `s3`, each an `objects.RemoteObject`. What they share: `failures`,
`patience` (attempts and pauses), `pieces` (the body of an answer). What is made of the bytes: rows of arrays (`npy`,
`mirror`, `fetch`), or one whole file of known checksum (`archive`, which the images use).
"""
