"""Resource limits of workers and pools."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a single call and of its worker."""

    memory_bytes: int = 512 * MIB
    """Address space, including all mappings."""
    processor_seconds: float = 10.0
    """Processor time of one call, over all its threads."""
    wall_seconds: float = 300.0
    """Maximum `timeout_seconds` of a call."""
    threads: int = 32
    """Threads in addition to the first. Processes: none."""
    open_files: int = 64
    file_bytes: int = 16 * MIB
    """Maximum size of one file in the scratch folder."""
    scratch_bytes: int = 64 * MIB
    """Total size of files in the scratch folder."""
    scratch_entries: int = 1000
    """Number of files and folders in it."""
    disk_reserve_bytes: int = 256 * MIB
    """Minimum free space on the disk of the scratch folders; a call is stopped below it."""
    code_bytes: int = 100_000
    input_bytes: int = 16 * MIB
    """Arguments as JSON, code included."""
    output_bytes: int = 8 * MIB
    """Result as JSON."""
    output_containers: int = 500_000
    """Lists and objects in a result; small ones take a hundred times their JSON in memory."""
    connections: int = 32
    """Concurrent connections of one call."""
    questions: int = 256
    """Connection requests of one call, including refused ones."""
    network_bytes: int = 64 * MIB
    """Traffic of all connections of one call, in both directions."""


ISOLATED_LIMITS = Limits(
    memory_bytes=1024 * MIB,
    processor_seconds=30.0,
    wall_seconds=60.0,
    threads=4,
    input_bytes=160 * MIB,
    output_bytes=32 * MIB,
    output_containers=4_000_000,
)
"""For Headgate's functions on external content: a document of 100 MB arrives as base64."""


@dataclass(frozen=True, slots=True)
class PoolSize:
    """Number of workers in a pool."""

    running: int = 4
    """Maximum concurrent calls; further calls wait."""
    reserve: int = 4
    """Additional concurrent calls of tenants, spaces and users below their fair share."""
    spare: int = 2
    """Confined workers that wait for their first code."""
    idle: int = 8
    """Workers kept for further calls with the same tenant and code."""
    idle_seconds: float = 60.0
    """How long they are kept."""
    calls: int = 1000
    """Calls after which a worker is replaced."""
    queue_seconds: float = 30.0
    """How long a call waits for a slot."""


ISOLATED_SIZE = PoolSize(running=4, spare=1, idle=0, calls=1)
