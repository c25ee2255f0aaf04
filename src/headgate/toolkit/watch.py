"""What an operator counts of the tools. The assistant's metrics are one; without one nothing is counted."""

from typing import Protocol


class Watch(Protocol):
    """Told what happens inside the tools, beside what a client is told."""

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        """An answer was there already."""
        ...

    def cache_miss(self, tool: str) -> None:
        """An answer was worked out."""
        ...

    def cache_evicted(self) -> None:
        """An answer made room for another."""
        ...

    def orphan_rejected(self, node_ids: list[str]) -> None:
        """A flow text was refused because these nodes are loose."""
        ...

    def unsafe_code_blocked(self, node_ids: list[str]) -> None:
        """A run was refused for the code of these nodes."""
        ...


class Unwatched:
    """Counts nothing."""

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        """Nothing."""

    def cache_miss(self, tool: str) -> None:
        """Nothing."""

    def cache_evicted(self) -> None:
        """Nothing."""

    def orphan_rejected(self, node_ids: list[str]) -> None:
        """Nothing."""

    def unsafe_code_blocked(self, node_ids: list[str]) -> None:
        """Nothing."""
