"""Limits of runs and tokens: exact under concurrent starts, and an error that says whose, how much and when."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.runs.quotas.bounds import Bound, Quota, Scope
from headgate.features.runs.quotas.errors import QuotaExceeded
from headgate.features.runs.quotas.service import Quotas
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.settings import QuotaSettings
from tests.integration.features.runs.conformance import over
from tests.support.engine import make_chain, make_flow, new_run, store_flow

VISITOR = "a visitor"


def bound(quota: Quota, scope: Scope, most: int) -> Bound:
    subjects = {Scope.TENANT: LOCAL.tenant_id, Scope.SPACE: LOCAL.space_id, Scope.VISITOR: VISITOR}
    return Bound(quota, scope, subjects[scope], most, by_operator=False)


@pytest.fixture
async def gate(database: Database, tmp_path: Path) -> RunKey:
    return await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))


async def _start(engine: Any, version: RunKey, *bounds: Bound) -> str:
    request = new_run(version, visitor=VISITOR, bounds=bounds)
    await engine.start(request)
    return request.key.run_id


class TestStarts:
    @pytest.mark.parametrize("scope", list(Scope))
    async def test_never_exceed_a_limit_however_many_come_at_once(
        self, make_engine: Any, gate: RunKey, tmp_path: Path, scope: Scope
    ) -> None:
        engine = await make_engine(max_concurrent_runs=2)
        limit = bound(Quota.RUNS, scope, 5)
        found = await asyncio.gather(*(_start(engine, gate, limit) for _ in range(20)), return_exceptions=True)
        started = [one for one in found if isinstance(one, str)]
        refused = [one for one in found if isinstance(one, QuotaExceeded)]
        assert (len(started), len(refused)) == (5, 15)
        assert refused[0].extra["used"] == 5
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, run_id) for run_id in started))
        await over(engine, await _start(engine, gate, limit))

    async def test_within_an_hour_are_counted_after_they_ended(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine()
        version, limit = await store_flow(database, make_chain(1)), bound(Quota.RUNS_PER_HOUR, Scope.SPACE, 2)
        for _ in range(2):
            await over(engine, await _start(engine, version, limit))
        with pytest.raises(QuotaExceeded, match="This space has 2 of 2 runs started within one hour") as refused:
            await _start(engine, version, limit)
        assert 3000 <= int(str(refused.value.extra["retry_after_seconds"])) <= 3600
        assert "An administrator of the organisation can raise it" in (refused.value.remedy or "")

    async def test_of_others_do_not_count(self, make_engine: Any, database: Database, gate: RunKey) -> None:
        engine = await make_engine()
        await engine.start(new_run(gate))
        other = Bound(Quota.RUNS, Scope.VISITOR, "another visitor", 1, by_operator=False)
        await engine.start(new_run(gate, visitor="another visitor", bounds=(other,)))
        with pytest.raises(QuotaExceeded):
            await engine.start(new_run(gate, visitor="another visitor", bounds=(other,)))


class TestLimitsInForce:
    async def _of_start(self, quotas: Quotas) -> dict[tuple[Scope, Quota], int]:
        found = await quotas.of_start(LOCAL.tenant_id, LOCAL.space_id, VISITOR)
        return {(one.scope, one.quota): one.most for one in found}

    async def test_are_the_operators_and_the_organisations_where_that_is_less(self, database: Database) -> None:
        quotas = Quotas(database, QuotaSettings(tenant_runs=100, space_runs=50, visitor_runs=0))
        assert await self._of_start(quotas) == {(Scope.TENANT, Quota.RUNS): 100, (Scope.SPACE, Quota.RUNS): 50}
        async with database.writing() as session:
            limits: Any = {"scope": Scope.SPACE, "quota": Quota.RUNS}
            await quotas.set_limit(session, LOCAL, space_id=None, limit=20, **limits)
            await quotas.set_limit(session, LOCAL, space_id=LOCAL.space_id, limit=10, **limits)
        assert (await self._of_start(quotas))[Scope.SPACE, Quota.RUNS] == 10
        async with database.writing() as session:
            await quotas.set_limit(session, LOCAL, space_id=LOCAL.space_id, limit=None, **limits)
        assert (await self._of_start(quotas))[Scope.SPACE, Quota.RUNS] == 20
