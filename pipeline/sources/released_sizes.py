"""How large MadryLab's released files are, as their README says: what a fetch costs before anybody was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.sources.network_content import weights_needed
from pipeline.sources.row_split import split_rows
from pipeline.text.numbers import human_bytes

if TYPE_CHECKING:
    from pipeline.config import Config

MODELS = {10: 1_510_000, 20: 760_000, 50: 310_000, 75: 610_000}
"""By share of the images in a mask, in per cent: rows of masks and margins, with the 10,000 for evaluation."""

N_TRAIN, N_TARGETS = 50_000, 10_000
BUCKET, PREFIX = "madrylab-datamodels", "cifar"


def expected_bytes(config: Config) -> dict[str, int]:
    """What a run fetches of each file: a byte a bit of masks, two a margin, four a weight."""
    n_models = MODELS[config.source.percent]
    fit, held_out = split_rows(config, n_models, N_TRAIN)
    rows = sum(stop - start for start, stop in ((fit, held_out) if config.fit.needs_rows else (held_out,)))
    rows = n_models if config.source.group_by_mask else rows
    weights = {"weights": 4 * N_TRAIN * N_TARGETS} if weights_needed(config) else {}
    return {"masks": rows * N_TRAIN, "margins": 2 * rows * N_TARGETS, **weights}


def expected_sentence(config: Config, usd_per_gb: float) -> str:
    """The line that a fetch begins with, from sizes that nobody was asked for; empty where these are not the files."""
    source = config.source
    if (source.bucket, source.prefix, source.endpoint_url) != (BUCKET, PREFIX, None):
        return ""
    sizes = expected_bytes(config)
    total = sum(sizes.values())
    files = ", ".join(f"{name} {human_bytes(size)}" for name, size in sizes.items())
    return (
        f"expected to fetch: {len(sizes)} files ({files}), {human_bytes(total)} in all, "
        f"about {total / 1e9 * usd_per_gb:.2f} USD to the requester; less what is already here"
    )
