"""The files that runs read and make, as the engine asks for them. Each call is a short transaction of its own."""

from collections.abc import Sequence
from typing import Protocol

from headgate.features.files import service
from headgate.features.files.storage import Storage
from headgate.features.files.tables import StoredFile
from headgate.foundation.database import Database
from headgate.foundation.settings import LimitSettings
from headgate.sdk import File

MOST_LISTED = 500


class Run(Protocol):
    """The run that an artifact belongs to."""

    @property
    def run_id(self) -> str:
        """Id of the run."""
        ...

    @property
    def tenant_id(self) -> str:
        """Whose run it is."""
        ...

    @property
    def flow_id(self) -> str:
        """Flow of the run."""
        ...


class Origin(Protocol):
    """Which step made an artifact."""

    @property
    def key(self) -> Run:
        """The step's run."""
        ...

    @property
    def step_id(self) -> str:
        """Id of the step."""
        ...


class RunFiles:
    """Uploads and artifacts of any tenant, for the engine."""

    def __init__(self, database: Database, storage: Storage, limits: LimitSettings) -> None:
        self._database = database
        self._storage = storage
        self._limits = limits

    async def describe(self, tenant_id: str, file_ids: Sequence[str]) -> tuple[File, ...]:
        """The files of these ids, in that order. Raises `FileNotFound` naming the first that the tenant has not."""
        async with self._database.reading() as session:
            rows = await service.get_files(session, tenant_id=tenant_id, file_ids=file_ids)
        return tuple(as_value(row) for row in rows)

    async def of_run(self, key: Run) -> tuple[File, ...]:
        """The artifacts of a run so far, oldest first; the newest `MOST_LISTED` when there are more."""
        async with self._database.reading() as session:
            rows = await service.run_artifacts(session, tenant_id=key.tenant_id, run_id=key.run_id, limit=MOST_LISTED)
        return tuple(as_value(row) for row in reversed(rows))

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        """The content. Raises `FileNotFound`, `FileDamaged`."""
        return await service.read_file(self._database, self._storage, tenant_id=tenant_id, file_id=file_id)

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        """Keep an artifact with its tags. Raises `FileTooLarge`, `StorageFull`, `StorageFailed`."""
        row = await service.store_artifact(
            self._database,
            self._storage,
            tenant_id=origin.key.tenant_id,
            flow_id=origin.key.flow_id,
            run_id=origin.key.run_id,
            step_id=origin.step_id,
            name=name,
            content=content,
            media_type=media_type,
            max_bytes=self._limits.max_artifact_bytes,
        )
        return as_value(row)


def as_value(row: StoredFile) -> File:
    """A record as the value that travels between steps."""
    return File(id=row.id, name=row.name, media_type=row.media_type, size=row.size_bytes)
