"""All cases; importing a module registers what it holds."""

from . import api_versions, cluster, configs, fetch, frames, metadata, offsets, produce, producer_id, topics

__all__ = [
    "api_versions",
    "cluster",
    "configs",
    "fetch",
    "frames",
    "metadata",
    "offsets",
    "produce",
    "producer_id",
    "topics",
]
