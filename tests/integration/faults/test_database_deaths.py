"""PostgreSQL killed or restarted under a working server: the runs wait for it and go on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.audit import audit, quiet
from tests.integration.faults.deaths import Death, moment_now
from tests.integration.faults.installation import QUIET_SECONDS, SCALE, Installation, counting_flow, moment
from tests.support.databases import Postgres, make_settings

Record = Callable[[str, object], None]
pytestmark = [pytest.mark.campaign, pytest.mark.timeout(120 + QUIET_SECONDS * 2), pytest.mark.postgres]


@pytest.fixture
def settings(own_postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    with own_postgres.fresh() as url:
        yield make_settings(tmp_path, url)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    found = Database(settings)
    yield found
    await found.close()


class TestPostgres:
    async def test_killed_and_restarted_under_a_server_costs_at_most_a_repeat(
        self, installation: Installation, own_postgres: Postgres, database: Database, record_property: Record
    ) -> None:
        server = await installation.up(HEADGATE_ENGINE__LEASE_SECONDS="3")
        flow = await installation.make_flow(server, counting_flow(installation.counter))
        for kill in (True, False) * SCALE:
            batch = asyncio.create_task(installation.submit(server, flow, 40))
            await installation.taken(moment(5, 35))
            await asyncio.sleep(moment(0, 0.2))
            sent = moment_now()
            await asyncio.to_thread(own_postgres.restart, kill=kill)
            installation.deaths.append(Death(sent, moment_now()))
            await batch
        await quiet(database, QUIET_SECONDS)
        assert server.alive
        assert await installation.submit(server, flow, 5) == 5
        await quiet(database, QUIET_SECONDS)
        counts = await audit(
            database, installation.counter, deaths=installation.deaths, acknowledged=installation.acknowledged
        )
        record_property("figures", f"{counts} (PostgreSQL died, the server lived)")
        assert counts.completed == counts.runs, counts.reasons
