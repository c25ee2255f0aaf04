"""Flows that run flows are resolved and checked when they are frozen."""

from dataclasses import replace

import pytest

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.catalog.registry import Registry
from headgate.features.flows import called, service, versions
from headgate.features.flows.versions import PinnedVersion
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Flow
from tests.support.engine import COMPONENTS, make_chain, make_flow, publish, store_flow


def calling(flow: str, **params: object) -> Flow:
    return make_flow({"start": "Start", "call": "RunFlow"}, ["start.text -> call.text"], call={"flow": flow, **params})


async def change(database: Database, key: RunKey, flow: Flow, principal: Principal = LOCAL) -> PinnedVersion:
    """Replace the draft of a flow and freeze it."""
    registry = Registry(COMPONENTS)
    async with database.writing() as session:
        row = await service.get_flow(session, principal, key.flow_id, lock=True)
        await service.write_draft(session, row, flow, registry)
    return await versions.pin_version(database, principal, registry, key.flow_id, wanted="draft")


class TestFreeze:
    async def test_names_the_published_version(self, database: Database) -> None:
        child = await publish(database, await store_flow(database, make_chain(2).model_copy(update={"name": "Body"})))
        parent = await store_flow(database, calling("body"))
        frozen = await versions.read_definition(
            database, tenant_id=parent.tenant_id, flow_id=parent.flow_id, version=parent.version
        )
        node = frozen.node("call")
        assert node is not None
        assert node.params["flow"] == {"flow_id": child.flow_id, "version": child.version, "name": "Body"}

    async def test_refuses_a_flow_that_is_not_published(self, database: Database) -> None:
        child = await store_flow(database, make_chain(2))
        with pytest.raises(FlowInvalid, match="no published flow"):
            await store_flow(database, calling(child.flow_id))

    async def test_takes_no_flow_that_the_caller_may_not_run(self, database: Database) -> None:
        child = await publish(database, await store_flow(database, make_chain(2)))
        parent = await store_flow(database, make_chain(2))
        stranger = replace(LOCAL, access=Access(roles={LOCAL.space_id: Role.VIEWER}))
        async with database.reading() as session:
            row = await service.get_flow(session, LOCAL, parent.flow_id)
            links = await called.resolve(
                session, [(child.flow_id, None)], tenant_id=LOCAL.tenant_id, space_id=row.space_id
            )
        assert called.runnable(LOCAL, links).keys() == {(child.flow_id, None)}
        assert called.runnable(stranger, links) == {}

    async def test_refuses_a_flow_that_leads_back_to_itself(self, database: Database) -> None:
        first = await publish(database, await store_flow(database, make_chain(2)))
        second = await publish(database, await store_flow(database, calling(first.flow_id)))
        with pytest.raises(FlowInvalid, match="leads back to this flow"):
            await change(database, first, calling(second.flow_id))
        with pytest.raises(FlowInvalid, match="leads back to this flow"):
            await change(database, first, calling(first.flow_id))

    async def test_refuses_flows_that_are_too_deep(self, database: Database) -> None:
        innermost = await publish(database, await store_flow(database, make_chain(2)))
        for _ in range(7):
            innermost = await publish(database, await store_flow(database, calling(innermost.flow_id)))
        with pytest.raises(FlowInvalid, match="more than 8 deep"):
            await store_flow(database, calling(innermost.flow_id))
