"""Worker policy sent from the server to the zygote: one frozen value, sent once as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and access of all workers of one zygote."""

    isolated: bool
    """Whether user, Landlock and seccomp apply; otherwise only resource limits."""
    memory_bytes: int
    """Address space of a worker."""
    file_bytes: int
    """Maximum size of a file."""
    open_files: int
    threads: int
    """Threads in addition to the first."""
    processor_seconds: int
    """Processor time over a worker's lifetime; the server limits each call."""
    input_bytes: int
    output_bytes: int
    network: bool
    """Whether each worker gets a second socket for connection requests."""
    environment: tuple[str, ...]
    """Environment variables of workers in addition to their folders, as `NAME=value`."""
    first_user: int
    """User id of worker slot 0 when the server is root; slot n runs as `first_user` + n."""
    import_paths: tuple[str, ...]
    """Folders appended to `sys.path` after the standard library."""
    readable: tuple[str, ...]
    """Libraries: files and folders that workers may read."""
    devices: tuple[str, ...]
    """Device files that workers may read and write."""
    preload: tuple[str, ...]
    """Modules imported once by the zygote, shared by all workers."""
    platform: str
    """Folder of Headgate's packages, on the import path only while the zygote prepares."""
    hosts: tuple[str, ...]
    """Trusted functions that may be called for custom code, as `module:function`; loaded by the zygote."""
    rehearsal: str
    """Warm-up requests as a JSON list, the first with code of Headgate: each worker executes them before it is
    assigned. Memory shared by forked processes is copied on first use, which takes longer than the work: better before
    than while a caller waits.
    """
    scratch_parent: str
    """Folder for the zygote's folder of scratch folders."""

    def to_json(self) -> bytes:
        """Return one line."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Parse the line of `to_json`."""
        members: dict[str, Any] = json.loads(text)
        for name, value in members.items():
            if isinstance(value, list):
                members[name] = tuple(value)
        return cls(**members)
