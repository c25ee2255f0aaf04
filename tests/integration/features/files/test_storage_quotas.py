"""Limits of stored bytes: of organisations, spaces and visitors, whatever is stored at the same time."""

import asyncio
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from headgate.features.access.principal import LOCAL
from headgate.features.files import service
from headgate.features.files.errors import NoRoomForFile
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.tables import StoredFile
from headgate.features.runs.quotas.bounds import Quota, Scope
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import QuotaSettings

MOST = 1000
OTHER_SPACE = "00000000-0000-7000-8000-0000000000aa"


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "files")


async def stored_bytes(database: Database, space_id: str | None = None) -> int:
    """What is there, by the rows themselves."""
    query = select(func.coalesce(func.sum(StoredFile.size_bytes), 0))
    if space_id is not None:
        query = query.where(StoredFile.space_id == space_id)
    async with database.reading() as session:
        return int((await session.execute(query)).scalar_one())


async def used(database: Database, quotas: Quotas, scope: Scope) -> int:
    """What Settings, the API and the command line show."""
    async with database.reading() as session:
        listed = await quotas.list_usage(session, LOCAL)
    shown = [one for one in listed if (one.quota, one.scope) == (Quota.STORAGE_BYTES, scope) and one.used is not None]
    return shown[0].used or 0


async def make(
    database: Database, storage: LocalStorage, quotas: Quotas, size: int, space_id: str = LOCAL.space_id
) -> StoredFile | None:
    """A file of a run; None when it was refused."""
    try:
        return await service.store_artifact(
            database,
            storage,
            tenant_id=LOCAL.tenant_id,
            space_id=space_id,
            flow_id=new_id(),
            run_id=new_id(),
            step_id="s",
            name="a",
            content=bytes(size),
            limits=quotas,
        )
    except NoRoomForFile:
        return None


class TestAtTheSameTime:
    async def test_never_more_is_stored_than_may_be(self, database: Database, storage: LocalStorage) -> None:
        quotas = Quotas(database, QuotaSettings(tenant_storage_bytes=MOST))

        async def upload() -> bool:
            try:
                await service.store_upload(database, storage, LOCAL, name="a", content=bytes(300), limits=quotas)
            except NoRoomForFile:
                return False
            return True

        results = await asyncio.gather(
            *(upload() for _ in range(8)), *(make(database, storage, quotas, 300) for _ in range(8))
        )
        assert sum(1 for result in results if result) == 3
        assert await stored_bytes(database) == await used(database, quotas, Scope.TENANT) == 900
        assert len([item async for item in storage.contents()]) == 3


class TestEachScope:
    async def test_a_full_space_leaves_the_others_their_room(self, database: Database, storage: LocalStorage) -> None:
        quotas = Quotas(database, QuotaSettings(space_storage_bytes=MOST))
        assert await make(database, storage, quotas, MOST)
        assert await make(database, storage, quotas, 1) is None
        assert await make(database, storage, quotas, MOST, OTHER_SPACE)

    async def test_an_upload_counts_for_the_space_whose_run_takes_it(
        self, database: Database, storage: LocalStorage
    ) -> None:
        quotas = Quotas(database, QuotaSettings(space_storage_bytes=MOST))
        row = await service.store_upload(database, storage, LOCAL, name="a", content=bytes(MOST + 1), limits=quotas)
        with pytest.raises(NoRoomForFile, match="This space has a limit of 1,000 bytes") as raised:
            async with database.writing() as session:
                await service.share_uploads(session, LOCAL, [row.id], space_id=LOCAL.space_id, limits=quotas)
        assert "HEADGATE_QUOTAS__SPACE_STORAGE_BYTES" in raised.value.remedy
        assert await stored_bytes(database, LOCAL.space_id) == 0

    async def test_a_limit_of_the_organisation_names_where_it_is_raised(
        self, database: Database, storage: LocalStorage
    ) -> None:
        quotas = Quotas(database, QuotaSettings())
        async with database.writing() as session:
            await quotas.set_limit(
                session, LOCAL, scope=Scope.TENANT, space_id=None, quota=Quota.STORAGE_BYTES, limit=10
            )
        with pytest.raises(NoRoomForFile) as raised:
            await service.store_upload(database, storage, LOCAL, name="a", content=bytes(11), limits=quotas)
        assert "Settings, Limits" in raised.value.remedy


class TestAnySequence:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    async def test_what_is_shown_is_what_is_stored(self, database: Database, storage: LocalStorage, seed: int) -> None:
        random = Random(seed)
        quotas = Quotas(database, QuotaSettings(tenant_storage_bytes=MOST, space_storage_bytes=MOST // 2))
        kept: list[StoredFile] = []
        for _ in range(25):
            if kept and random.random() < 0.4:
                row = kept.pop(random.randrange(len(kept)))
                async with database.writing() as session:
                    await service.delete_records(session, LOCAL, [row])
                await storage.delete(row.tenant_id, row.id)
            else:
                row_ = await make(
                    database, storage, quotas, random.randrange(1, 300), random.choice([LOCAL.space_id, OTHER_SPACE])
                )
                kept += [row_] if row_ else []
            assert await stored_bytes(database) == await used(database, quotas, Scope.TENANT) <= MOST
            for space in (LOCAL.space_id, OTHER_SPACE):
                assert await stored_bytes(database, space) <= MOST // 2
            assert await used(database, quotas, Scope.SPACE) == await stored_bytes(database, LOCAL.space_id)
