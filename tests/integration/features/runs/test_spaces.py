"""Which space a run is of: asked of the database once a flow, and not at all for who sees every space."""

from dataclasses import dataclass, replace

import pytest

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import LOCAL, Access
from headgate.features.flows.errors import FlowNotFound
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.permitted import require_of_run
from headgate.features.runs.spaces import FlowSpaces
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, store_flow
from tests.support.rows import execute
from tests.support.tenants import add_tenant

ELSEWHERE = "00000000-0000-7000-8000-00000000e15e"


class TestFlowSpaces:
    async def test_know_the_space_of_a_flow_and_of_a_deleted_one(self, database: Database) -> None:
        flow = (await store_flow(database, make_chain(1))).flow_id
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert await FlowSpaces(database).of(LOCAL.tenant_id, flow) == LOCAL.space_id

    async def test_ask_once(self, database: Database) -> None:
        spaces = FlowSpaces(database)
        flow = (await store_flow(database, make_chain(1))).flow_id
        await spaces.of(LOCAL.tenant_id, flow)
        await execute(database, "DELETE FROM flows")
        assert await spaces.of(LOCAL.tenant_id, flow) == LOCAL.space_id

    async def test_let_go_of_what_was_asked_for_longest_ago(self, database: Database) -> None:
        spaces = FlowSpaces(database, most=2)
        flows = [(await store_flow(database, make_chain(1))).flow_id for _ in range(3)]
        for flow in (flows[0], flows[1], flows[0], flows[2]):
            await spaces.of(LOCAL.tenant_id, flow)
        await execute(database, "DELETE FROM flows")
        assert {await spaces.of(LOCAL.tenant_id, flow) for flow in (flows[0], flows[2])} == {LOCAL.space_id}
        with pytest.raises(FlowNotFound):
            await spaces.of(LOCAL.tenant_id, flows[1])

    async def test_keep_tenants_apart(self, database: Database) -> None:
        spaces = FlowSpaces(database)
        flow = (await store_flow(database, make_chain(1))).flow_id
        await spaces.of(LOCAL.tenant_id, flow)
        other = await add_tenant(database)
        for _ in range(2):
            with pytest.raises(FlowNotFound):
                await spaces.of(other.tenant_id, flow)


@dataclass(frozen=True)
class Run:
    id: str
    tenant_id: str = LOCAL.tenant_id
    flow_id: str = "a flow"


class Rooms:
    """Says where a flow is, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def of(self, tenant_id: str, flow_id: str) -> str:
        self.asked += 1
        return LOCAL.space_id


class TestRequireOfRun:
    async def test_asks_nothing_for_who_sees_every_space(self) -> None:
        rooms = Rooms()
        await require_of_run(rooms, LOCAL, Run(new_id()), Permission.RUNS_START)
        narrowed = replace(LOCAL, access=Access(admin=True, scopes=frozenset({Permission.RUNS_VIEW})))
        await require_of_run(rooms, narrowed, Run(new_id()), Permission.RUNS_VIEW)
        with pytest.raises(PermissionMissing, match="API key"):
            await require_of_run(rooms, narrowed, Run(new_id()), Permission.RUNS_START)
        assert rooms.asked == 0

    @pytest.mark.parametrize(
        ("access", "refused"),
        [
            (Access(roles={LOCAL.space_id: Role.RUNNER}), None),
            (Access(roles={LOCAL.space_id: Role.VIEWER}), PermissionMissing),
            (Access(roles={ELSEWHERE: Role.OWNER}), RunNotFound),
            (Access(), RunNotFound),
            (Access(admin=True, spaces=frozenset({LOCAL.space_id})), None),
            (Access(admin=True, spaces=frozenset({ELSEWHERE})), RunNotFound),
            (Access(roles={LOCAL.space_id: Role.OWNER}, scopes=frozenset({Permission.RUNS_VIEW})), PermissionMissing),
        ],
    )
    async def test_decides_by_the_role_in_the_flow_s_space(
        self, access: Access, refused: type[Exception] | None
    ) -> None:
        who = replace(LOCAL, access=access)
        if refused is None:
            await require_of_run(Rooms(), who, Run(new_id()), Permission.RUNS_START)
            return
        with pytest.raises(refused):
            await require_of_run(Rooms(), who, Run(new_id()), Permission.RUNS_START)
