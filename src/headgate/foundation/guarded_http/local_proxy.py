"""What a library with its own HTTP client is given to reach the servers of a connection; see `relay`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LocalProxy:
    """How a library reaches the servers of a connection, and no others, until the end of a block."""

    url: str
    """HTTP proxy on loopback, with the token that opens it."""
    ca_file: Path | None = None
    """Certificate authorities to trust in addition to the system's."""
