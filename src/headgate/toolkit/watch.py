"""Operator metrics of the tools. The assistant's metrics implement it; without one nothing is counted."""

from typing import Protocol


class Watch(Protocol):
    """Receives internal events of the tools."""

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        """Count a cache hit."""

    def cache_miss(self, tool: str) -> None:
        """Count a cache miss."""

    def cache_evicted(self) -> None:
        """Count a cache eviction."""

    def orphan_rejected(self, node_ids: list[str]) -> None:
        """Count a flow text refused for these unconnected nodes."""

    def unsafe_code_blocked(self, node_ids: list[str]) -> None:
        """Count a run refused for the code of these nodes."""


class Unwatched:
    """Counts nothing."""

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        """Do nothing."""

    def cache_miss(self, tool: str) -> None:
        """Do nothing."""

    def cache_evicted(self) -> None:
        """Do nothing."""

    def orphan_rejected(self, node_ids: list[str]) -> None:
        """Do nothing."""

    def unsafe_code_blocked(self, node_ids: list[str]) -> None:
        """Do nothing."""
