"""Files of runs, for the engine. Each call is a separate short transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from headgate.features.access.principal import Principal
from headgate.features.files.errors import FileNotFound
from headgate.features.files.storage import Storage
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import LimitSettings
from headgate.sdk import File

if TYPE_CHECKING:
    from headgate.features.files import service
    from headgate.features.files.limits import StorageLimits
    from headgate.features.files.tables import StoredFile
else:
    service = lazy_module("headgate.features.files.service")

MOST_LISTED = 500


class Run(Protocol):
    """The run that an artifact belongs to."""

    @property
    def run_id(self) -> str:
        """Id of the run."""

    @property
    def tenant_id(self) -> str:
        """Its tenant."""

    @property
    def flow_id(self) -> str:
        """Flow of the run."""


class Origin(Protocol):
    """The step of an artifact."""

    @property
    def key(self) -> Run:
        """The step's run."""

    @property
    def step_id(self) -> str:
        """Id of the step."""


class Spaces(Protocol):
    """The space of each flow."""

    async def of(self, tenant_id: str, flow_id: str) -> str:
        """Return the id of a flow's space. Raises `NotFound`."""


@dataclass(frozen=True, slots=True)
class Given:
    """Files passed to a run."""

    files: tuple[File, ...] = ()
    unshared: tuple[str, ...] = ()
    """Ids of those that are private until the run uses them."""


class RunFiles:
    """Uploads and artifacts of any tenant, for the engine."""

    def __init__(
        self,
        database: Database,
        storage: Storage,
        spaces: Spaces,
        limits: LimitSettings,
        quotas: "Callable[[], StorageLimits] | None" = None,
    ) -> None:
        self._quotas = quotas
        self._database = database
        self._storage = storage
        self._spaces = spaces
        self._limits = limits

    @property
    def _storage_limits(self) -> "StorageLimits | None":
        return self._quotas() if self._quotas is not None else None

    async def given(self, principal: Principal, file_ids: Sequence[str]) -> Given:
        """Return the files with these ids, in that order. Raises `FileNotFound` for the first invisible one."""
        async with self._database.reading() as session:
            rows = await service.get_files(session, principal, file_ids)
        unshared = {row.id for row in rows if row.space_id is None}
        return Given(tuple(as_value(row) for row in rows), tuple(sorted(unshared)))

    async def take(self, principal: Principal, flow_id: str, unshared: Sequence[str]) -> None:
        """Share the user's uploads with the space of the flow whose run uses them."""
        space_id = await self._spaces.of(principal.tenant_id, flow_id)
        async with self._database.writing() as session:
            await service.share_uploads(session, principal, unshared, space_id=space_id, limits=self._storage_limits)

    async def of_run(self, key: Run) -> tuple[File, ...]:
        """Return the artifacts of a run so far, oldest first; at most the newest `MOST_LISTED`."""
        async with self._database.reading() as session:
            rows = await service.run_artifacts(session, tenant_id=key.tenant_id, run_id=key.run_id, limit=MOST_LISTED)
        return tuple(as_value(row) for row in reversed(rows))

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        """Return the content. Raises `FileNotFound`, `FileDamaged`."""
        return await service.read_file(self._database, self._storage, tenant_id=tenant_id, file_id=file_id)

    async def read_in(self, tenant_id: str, flow_id: str, file_id: str) -> bytes:
        """Return the content of a file that runs of the flow, or of another flow of its space, created or used.

        For ids that a flow's author may have chosen. Raises `FileNotFound`, `FileDamaged`.
        """
        async with self._database.reading() as session:
            row = await service.get_file_system(session, tenant_id=tenant_id, file_id=file_id)
        if row.flow_id != flow_id and row.space_id != await self._spaces.of(tenant_id, flow_id):
            raise FileNotFound(file_id)
        return await service.read_content(self._storage, row)

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        """Store an artifact with its tags. Raises `FileTooLarge`, `NoRoomForFile`, `StorageFull`, `StorageFailed`."""
        row = await service.store_artifact(
            self._database,
            self._storage,
            tenant_id=origin.key.tenant_id,
            space_id=await self._spaces.of(origin.key.tenant_id, origin.key.flow_id),
            flow_id=origin.key.flow_id,
            run_id=origin.key.run_id,
            step_id=origin.step_id,
            name=name,
            content=content,
            media_type=media_type,
            max_bytes=self._limits.max_artifact_bytes,
            limits=self._storage_limits,
        )
        return as_value(row)


def as_value(row: "StoredFile") -> File:
    """Return a record as a value for steps."""
    return File(id=row.id, name=row.name, media_type=row.media_type, size=row.size_bytes)
