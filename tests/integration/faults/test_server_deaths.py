"""The server killed at random moments: nothing that finished is done again, nothing that was taken is lost."""

import asyncio
from collections.abc import Callable

import pytest

from headgate.foundation.database import Database
from tests.integration.faults.audit import audit, quiet
from tests.integration.faults.installation import DEATHS, QUIET_SECONDS, RUNS, Installation, counting_flow, moment

Record = Callable[[str, object], None]
pytestmark = pytest.mark.timeout(120 + QUIET_SECONDS * 2)


class TestServer:
    async def test_killed_at_random_moments_finishes_every_step_once(
        self, installation: Installation, database: Database, record_property: Record
    ) -> None:
        server = await installation.up()
        flow = await installation.make_flow(server, counting_flow(installation.counter))
        for _ in range(DEATHS):
            batch = asyncio.create_task(installation.submit(server, flow, RUNS // DEATHS))
            await installation.taken(moment(1, RUNS // DEATHS))
            await asyncio.sleep(moment(0, 0.2))
            installation.kill(server)
            await batch
            server = await installation.up()
        await installation.submit(server, flow, RUNS - len(installation.acknowledged))
        await quiet(database, QUIET_SECONDS)
        counts = await audit(
            database, installation.counter, deaths=installation.deaths, acknowledged=installation.acknowledged
        )
        record_property("figures", f"{counts} ({database.dialect})")
        assert counts.completed == counts.runs >= RUNS, counts.reasons
        assert counts.interrupted

    @pytest.mark.campaign
    async def test_killed_and_replaced_by_two_at_once_finishes_every_step_once(
        self, installation: Installation, database: Database, record_property: Record
    ) -> None:
        # What the one that is killed was at, the other takes over when its lease is past.
        lease = {"HEADGATE_ENGINE__LEASE_SECONDS": "3"}
        server = await installation.up(**lease)
        flow = await installation.make_flow(server, counting_flow(installation.counter, seconds=0.1))
        for _ in range(2):
            await installation.submit(server, flow, 20)
            await asyncio.sleep(moment(0.05, 0.3))
            installation.kill(server)
            server, other = await asyncio.gather(installation.up(**lease), installation.up(**lease))
            await asyncio.sleep(moment(0.05, 0.3))
            installation.kill(other)
        await quiet(database, QUIET_SECONDS)
        counts = await audit(
            database, installation.counter, deaths=installation.deaths, acknowledged=installation.acknowledged
        )
        record_property("figures", f"{counts} ({database.dialect})")
        assert counts.completed == counts.runs >= 40, counts.reasons
        assert counts.interrupted
