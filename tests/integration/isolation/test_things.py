"""What the matrix of routes does not reach: each file by each asker, names that others have, and the toolkit."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastapi import FastAPI

from headgate.entrypoints.mcp.studio import Registrar
from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.overlay import Overlay
from headgate.graph.model import Flow
from headgate.toolkit.registry import TOOLS, tools_for
from headgate.toolkit.workbench import Workbench
from tests.integration.isolation.askers import ASKERS, Asker
from tests.integration.isolation.visitors import HERE, Tenant, Visitor
from tests.integration.isolation.worlds import ask

Record = Callable[[str, object], None]
BY_TITLE: Mapping[str, Asker] = {str(asker): asker for asker in ASKERS}


class TestFiles:
    async def test_are_shown_to_who_sees_their_space_and_private_ones_to_nobody_else(
        self, tenant: Tenant, record_property: Record
    ) -> None:
        calls = 0
        for asker in ASKERS:
            visitor = await Visitor.arrive(tenant, asker)
            async with visitor.client(Permission.FILES_VIEW) as client:
                for path, expected in _expected(tenant, visitor.principal(Permission.FILES_VIEW)).items():
                    calls += 1
                    answer = await client.get(path)
                    assert answer.status_code == expected, f"{asker}: {path}: {answer.text}"
                    assert expected == 200 or HERE not in answer.text
        record_property("figures", f"{calls} files asked for by {len(ASKERS)} askers ({tenant.database.dialect})")

    async def test_that_are_private_start_nobody_elses_run(self, tenant: Tenant) -> None:
        editor = await Visitor.arrive(tenant, BY_TITLE["an editor"])
        start = {"text": "Look", "file_ids": [tenant.here.private_file_id], "version": "published", "wait": True}
        async with editor.client() as client:
            answer = await client.post(f"/flows/{tenant.here.flow_ids[0]}/runs", json=start)
            assert answer.status_code == 404
            assert answer.json()["code"] == "file_not_found"


class TestNames:
    """A name that is taken in a space that somebody does not see is free for them."""

    @pytest.fixture
    async def here(self, tenant: Tenant) -> Tenant:
        """With names that nothing else in the tenant has."""
        await ask(tenant.here, "POST", "/assistants", json={"name": "Only here", "instructions": HERE, "model": "x/y"})
        await ask(tenant.here, "POST", "/mcp-servers", json={"name": "only-here", "url": "https://example.org/mcp"})
        return tenant

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/assistants", {"name": "Only here", "model": "x/y"}),
            ("/mcp-servers", {"name": "only-here", "url": "https://example.org/mcp"}),
        ],
    )
    async def test_can_be_given_again(self, here: Tenant, path: str, body: dict[str, Any]) -> None:
        outsider = await Visitor.arrive(here, BY_TITLE["an owner of another space"])
        async with outsider.client() as client:
            answer = await client.post(path, json=body)
            assert answer.status_code == 201, answer.text
            assert HERE not in answer.text

    async def test_of_hidden_spaces_are_free(self, here: Tenant) -> None:
        async with (await Visitor.arrive(here, BY_TITLE["a stranger"])).client() as client:
            answer = await client.post("/spaces", json={"name": "Another room"})
            assert answer.status_code == 201, answer.text
            assert here.spaces.here not in answer.text

    @pytest.mark.parametrize("name", ["only-here", "never-was"])
    async def test_find_no_server(self, here: Tenant, name: str) -> None:
        outsider = await Visitor.arrive(here, BY_TITLE["an owner of another space"])
        async with outsider.client() as client:
            answer = await client.get(f"/mcp-servers/{name}")
            assert answer.status_code == 404
            assert answer.json()["detail"] == f"There is no MCP server '{name}'."

    async def test_of_assistants_are_looked_for_in_the_flows_own_space(self, here: Tenant) -> None:
        async with (await Visitor.arrive(here, BY_TITLE["an owner of another space"])).client() as client:
            told = []
            for name in ("Only here", "Never was"):
                node = {"id": "step", "type": "AIStep", "params": {"assistant": name}}
                answer = await client.post("/flows", json={"definition": {"name": "Linked", "nodes": [node]}})
                assert answer.status_code == 201, answer.text
                run = await client.post(f"/flows/{answer.json()['id']}/runs", json={"text": "Hello", "wait": True})
                issues, found = answer.json()["issues"], run.json()
                told.append(f"{issues} {run.status_code} {found.get('detail')}")
            assert told[0].replace("Only here", "Never was") == told[1]
            assert "Never was" in told[1]


class TestTools:
    async def test_are_those_that_the_asker_may_use_in_the_flows_space(
        self, app: FastAPI, tenant: Tenant, record_property: Record
    ) -> None:
        refused = 0
        for asker in ASKERS:
            visitor = await Visitor.arrive(tenant, asker)
            for tool in TOOLS:
                bench = _bench(app, tenant, visitor.principal(tool.permission))
                where = tenant.spaces.here if is_of_space(tool.permission) else None
                may = tool.permission in bench.principal.access.granted(where)
                answer = await tool.call(bench, {})
                lacking = answer.get("code") == "permission_missing" and f"'{tool.permission}'" in str(answer["error"])
                assert lacking == (not may), f"{asker}: {tool.name}: {answer}"
                assert (tool in tools_for(bench)) == (may and tool.is_equipped(bench))
                assert may or not bench.changed
                refused += not may
        assert 0 < refused < len(ASKERS) * len(TOOLS)
        record_property(
            "figures",
            f"{len(TOOLS)} tools tried by {len(ASKERS)} askers, {refused} refused ({tenant.database.dialect})",
        )


def _bench(app: FastAPI, tenant: Tenant, principal: Principal) -> Workbench:
    """A bench as the assistant would set it up, if it let the asker get as far as that."""
    return Workbench(
        principal=principal,
        space_id=tenant.spaces.here,
        flow=Flow.model_validate(tenant.here.definition),
        registry=Overlay(app.state.registry, app.state.index),
        maker=Registrar(app.state.workshop, principal),
        files=app.state.workspace.for_agent(principal),
    )


def _expected(tenant: Tenant, principal: Principal) -> dict[str, int]:
    """Path of each record and content to the status that it is to be answered with."""
    access = principal.access
    sees = access.sees(tenant.spaces.here) and Permission.FILES_VIEW in access.granted(tenant.spaces.here)
    upload, artifact = tenant.here.file_ids[:2]
    shown = {
        f"/files/{upload}": sees,
        f"/files/{upload}/content": sees,
        f"/artifacts/{upload}": False,
        f"/files/{artifact}": sees,
        f"/files/{artifact}/content": sees,
        f"/artifacts/{artifact}": sees,
        f"/files/{tenant.here.private_file_id}": False,
        f"/files/{tenant.here.private_file_id}/content": False,
    }
    in_scope = access.scopes is None or Permission.FILES_VIEW in access.scopes
    return {path: (200 if yes else 404) if in_scope else 403 for path, yes in shown.items()}
