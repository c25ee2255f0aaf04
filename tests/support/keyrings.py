"""Processes of an installation that rotates its keys: each with its own folder of keys, or with a shared one."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import select

from headgate.features.access.principal import LOCAL
from headgate.features.encryption.keys import DataKeys
from headgate.features.jobs.runner import JobRunner
from headgate.features.keyring import service
from headgate.features.keyring.current import read_current
from headgate.features.keyring.rotation import Rotation
from headgate.features.keyring.states import KeyState
from headgate.features.keyring.tables import installation_keys
from headgate.features.secrets import service as secrets
from headgate.features.secrets.tables import Variable
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.keyring import KeyRing, Purpose, new_ring
from headgate.foundation.settings import Settings
from tests.support.jobs import open_jobs


@dataclass(slots=True)
class Machine:
    """A process of the installation."""

    database: Database
    settings: Settings
    ring: KeyRing
    box: SecretBox
    runner: JobRunner
    rotation: Rotation

    @property
    def signer(self) -> EvidenceSigner:
        return EvidenceSigner(self.ring)

    async def rotate(self, purpose: Purpose = Purpose.SECRETS) -> str:
        """Begin a rotation, and work on it as far as it gets; returns the id of the new key."""
        async with self.database.writing() as session:
            key_id = await service.rotate(session, LOCAL, self.ring, purpose)
        await self.rotation.finish(key_id)
        return key_id

    async def store(self, name: str, value: str) -> None:
        async with self.database.writing() as session:
            await secrets.set_variable(session, LOCAL, self.box, name=name, value=SecretStr(value), organisation=True)

    async def values(self) -> dict[str, str]:
        """Every variable as this process reads it."""
        async with self.database.reading() as session:
            rows = (await session.scalars(select(Variable))).all()
        return {row.name: self.box.decrypt(row.token).get_secret_value() for row in rows}

    async def retire(self, key_id: str) -> bool:
        return await service.retire(self.database, LOCAL, self.ring, key_id)


@asynccontextmanager
async def open_machine(
    database: Database, settings: Settings, folder: Path | None = None, *, scans: bool = False
) -> AsyncIterator[Machine]:
    """A process; with `folder` on another machine, which has the first keys and shares nothing else."""
    settings = settings if folder is None else _elsewhere(settings, folder)
    ring = KeyRing(settings)
    async with database.reading() as session:
        ring.use(await read_current(session))
    box = SecretBox(ring)
    async with open_jobs(database, settings.data_dir, scans=scans) as runner:
        yield Machine(database, settings, ring, box, runner, Rotation(database, ring, box, runner))


def _elsewhere(settings: Settings, folder: Path) -> Settings:
    folder.mkdir()
    for name in ("secret.key", "evidence.key"):
        if (settings.data_dir / name).exists():
            shutil.copy(settings.data_dir / name, folder / name)
    return settings.model_copy(update={"data_dir": folder})


async def key_rows(database: Database) -> dict[str, Any]:
    """Key id to its row."""
    async with database.reading() as session:
        return {row.id: row for row in await session.execute(select(installation_keys))}


async def keys_in(database: Database, state: KeyState, purpose: Purpose = Purpose.SECRETS) -> list[str]:
    """Ids of the keys of a purpose in a state."""
    rows = await key_rows(database)
    return [row.id for row in rows.values() if row.state == state and row.purpose == purpose]


def data_keys(database: Database, settings: Settings | None = None, *, always: bool = False) -> DataKeys:
    """Data keys as an installation opens them; unless `always`, of organisations where encryption was turned on."""
    return DataKeys(database, SecretBox(new_ring(settings or Settings())), always=always)
