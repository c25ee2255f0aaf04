"""What the server tells the zygote about its workers: one frozen value, sent once as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and reach of every worker of one zygote."""

    isolated: bool
    """Whether user, Landlock and seccomp apply; without, resource limits only."""
    memory_bytes: int
    """Address space of a worker."""
    file_bytes: int
    """Longest file it can write."""
    open_files: int
    threads: int
    """Threads beside the first."""
    processor_seconds: int
    """Processor time over a worker's whole life; a single call is watched by the server."""
    input_bytes: int
    output_bytes: int
    network: bool
    """Whether each worker gets a second socket, on which it asks the server for connections."""
    environment: tuple[str, ...]
    """Variables that workers get beside their folders, as `NAME=value`."""
    first_user: int
    """User id of worker slot 0 when the server is root; slot n runs as `first_user` + n."""
    import_paths: tuple[str, ...]
    """Folders put on `sys.path` after the standard library."""
    readable: tuple[str, ...]
    """Libraries: files and folders a worker may read."""
    devices: tuple[str, ...]
    """Device files it may read and write."""
    preload: tuple[str, ...]
    """Modules imported once by the zygote, shared by all workers."""
    platform: str
    """Folder of the platform's own packages, on the import path while the zygote prepares and no longer."""
    hosts: tuple[str, ...]
    """Trusted functions that may be called on own code, as `module:function`; loaded by the zygote."""
    rehearsal: str
    """Requests as a JSON list, the first with code of ours: answered by each worker before it is anybody's. Memory that
    forked processes share is copied when it is first used, and that takes longer than the work: better before than
    while somebody waits."""
    scratch_parent: str
    """Folder in which the zygote makes its own for the workers' scratch folders."""

    def to_json(self) -> bytes:
        """As one line."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """From the line that `to_json` made."""
        members: dict[str, Any] = json.loads(text)
        for name, value in members.items():
            if isinstance(value, list):
                members[name] = tuple(value)
        return cls(**members)
