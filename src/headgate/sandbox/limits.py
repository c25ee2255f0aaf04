"""How much one worker and one pool may use."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a single call and of the worker that makes it."""

    memory_bytes: int = 512 * MIB
    """Address space, everything mapped included."""
    processor_seconds: float = 10.0
    """Processor time of one call, over all its threads."""
    wall_seconds: float = 300.0
    """Longest `timeout_seconds` that a caller may ask for."""
    threads: int = 32
    """Threads beside the first. Processes: none."""
    open_files: int = 64
    file_bytes: int = 16 * MIB
    """Longest single file in the scratch folder."""
    scratch_bytes: int = 64 * MIB
    """All files in the scratch folder together."""
    scratch_entries: int = 1000
    """Files and folders in it."""
    disk_reserve_bytes: int = 256 * MIB
    """A call is stopped when the disk under the scratch folders has less than this left."""
    code_bytes: int = 100_000
    input_bytes: int = 16 * MIB
    """Arguments as JSON, code included."""
    output_bytes: int = 8 * MIB
    """Result as JSON."""
    output_containers: int = 500_000
    """Lists and objects in a result; tiny ones take a hundred times their JSON in memory."""
    connections: int = 32
    """Connections of one call, where the code may make any."""
    questions: int = 256
    """Connections that one call may ask for, refused ones included."""
    network_bytes: int = 64 * MIB
    """What the connections of one call may carry, both ways together."""


ISOLATED_LIMITS = Limits(
    memory_bytes=1024 * MIB,
    processor_seconds=30.0,
    wall_seconds=60.0,
    threads=4,
    input_bytes=160 * MIB,
    output_bytes=32 * MIB,
    output_containers=4_000_000,
)
"""Of the platform's own functions on content from outside: a document of 100 MB comes in as base64."""


@dataclass(frozen=True, slots=True)
class PoolSize:
    """How many workers a pool keeps."""

    running: int = 4
    """Calls at the same time; further ones wait."""
    reserve: int = 4
    """Further calls at the same time, of tenants, spaces and users below their fair share."""
    spare: int = 2
    """Locked-down workers waiting for their first code."""
    idle: int = 8
    """Workers kept for another call with the same tenant and code."""
    idle_seconds: float = 60.0
    """How long they are kept."""
    calls: int = 1000
    """Calls after which a worker is replaced."""
    queue_seconds: float = 30.0
    """How long a call waits for its turn."""


ISOLATED_SIZE = PoolSize(running=4, spare=1, idle=0, calls=1)
