"""Who may do what over MCP: roles in a space, keys with scopes, two organisations."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import MCPError
from mcp.client import Client
from sqlalchemy import text, update

from headgate.features.access.permissions import Permission, Role
from headgate.features.accounts.tables import ApiKey
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.stored import published
from tests.integration.isolation.known_documents import add_documents
from tests.support.knowledge import member
from tests.support.mcp_client import FLOW, connected, done, refused, served, text_of
from tests.support.people import add_key, add_space_row, add_tenant_row, add_user, bearer, running, signed_in

ROLES = ("viewer", "runner", "editor", "publisher")
_ENTRIES = text("SELECT action, actor_kind FROM audit_events WHERE resource_id = :id ORDER BY seq")
_REVOKE = update(ApiKey).values(revoked_at=now())
_FILLED: dict[str, Any] = {
    "content_hash": "0" * 64,
    "decision": "approve",
    "component_id": "heard",
    "component_type": "ChatInput",
    "field_name": "text",
    "new_id": "other",
    "new_value": "x",
    "node_id": "heard",
    "node_ids": ["heard"],
    "params": {"text": "x"},
    "revision": 1,
    "source_id": "heard",
    "source_output": "message",
    "spec": FLOW,
    "cron": "0 7 * * *",
    "source": {"kind": "folder"},
    "name": "cursor",
    "value": 1,
    "expected_version": 0,
    "target_id": "said",
    "target_input": "input",
    "tests": [],
}
"""Values for arguments that are no ids."""
READING = {one.name for one in OPERATIONS.values() if one.kind == "read" and one.permission is Permission.FLOWS_VIEW}
EDITING = {one.name for one in OPERATIONS.values() if one.permission is Permission.FLOWS_EDIT}


class Office:
    """People with keys, and a client for each."""

    def __init__(self, database: Database, url: str) -> None:
        self.database, self.url = database, url
        self._end = asyncio.Event()
        self._owners: list[asyncio.Task[None]] = []
        self.clients: dict[str, Client] = {}
        self.space = ""

    async def hire(self, who: str, role: Role, space: str, *, tenant_id: str | None = None, **key: Any) -> None:
        """Somebody with a role in a space, and a client with their key."""
        more: dict[str, Any] = {} if tenant_id is None else {"tenant_id": tenant_id}
        person = await add_user(self.database, f"{who}@example.org", roles={space: role}, home=space, **more)
        made = await add_key(self.database, person, **key)
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owners.append(asyncio.create_task(self._own(made, opened)))
        self.clients[who] = await opened

    async def _own(self, key: str, opened: "asyncio.Future[Client]") -> None:
        """A client is closed by the task that opened it."""
        try:
            async with connected(self.url, headers=bearer(key)) as client:
                opened.set_result(client)
                await self._end.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)

    async def close(self) -> None:
        """Everybody goes home."""
        self._end.set()
        await asyncio.gather(*self._owners)

    async def tools(self, who: str) -> set[str]:
        """Names of the tools that somebody is shown."""
        return {tool.name for tool in (await self.clients[who].list_tools()).tools}


@pytest.fixture
async def office(one_database: Settings) -> AsyncIterator[Office]:
    async with running(signed_in(one_database)) as app, served(app) as url:
        database: Database = app.state.database
        found = Office(database, url)
        found.space = await add_space_row(database, "Research")
        for role in ROLES:
            await found.hire(role, Role(role), found.space)
        yield found
        await found.close()


class TestRoles:
    async def test_are_shown_what_they_may_use(self, office: Office) -> None:
        viewer, runner, editor = [await office.tools(who) for who in ("viewer", "runner", "editor")]
        assert viewer >= READING
        assert not viewer & (
            EDITING
            | {
                "run_flow",
                "cancel_run",
                "pause_run",
                "continue_run",
                "decide_approval",
                "send_event",
                "upload_file",
                "publish_flow",
            }
        )
        assert runner - viewer == {
            "run_flow",
            "cancel_run",
            "pause_run",
            "continue_run",
            "decide_approval",
            "send_event",
            "upload_file",
        }
        evaluating = {"list_knowledge_questions", "evaluate_knowledge"}
        evaluating |= {"list_knowledge_evaluations", "read_knowledge_evaluation"}
        assert editor - runner == {*EDITING, *evaluating, "dry_run", "run_tests", "cancel_tests"}
        assert await office.tools("publisher") - editor == {"publish_flow", "set_schedule", "set_trigger"}

    async def test_are_refused_the_rest_by_name(self, office: Office) -> None:
        flow_id = (await done(office.clients["editor"], "create_flow_from_spec", spec=FLOW))["flow_id"]
        viewer = office.clients["viewer"]
        assert (await done(viewer, "get_flow", flow_id=flow_id))["spec"] == FLOW
        for tool, arguments in (
            ("add_component", {"component_type": "ChatInput"}),
            ("build_flow", {"spec": FLOW}),
            ("delete_flow", {}),
            ("undo", {"revision": 1}),
            ("publish_flow", {}),
            ("run_flow", {}),
            ("run_tests", {}),
        ):
            found = await refused(viewer, tool, flow_id=flow_id, **arguments)
            assert found["code"] == "permission_missing", tool
        batch = await refused(viewer, "batch", actions=[{"tool": "delete_flow", "arguments": {"flow_id": flow_id}}])
        assert (batch["code"], batch["failed_action"]) == ("permission_missing", 0)
        assert (await done(viewer, "get_flow", flow_id=flow_id))["revision"] == 1

    async def test_run_drafts_only_where_they_may_test(self, office: Office) -> None:
        editor, runner = office.clients["editor"], office.clients["runner"]
        flow_id = (await done(editor, "create_flow_from_spec", spec=FLOW))["flow_id"]
        assert (await refused(runner, "run_flow", flow_id=flow_id))["code"] == "permission_missing"
        await done(office.clients["publisher"], "publish_flow", flow_id=flow_id)
        ran = await done(runner, "run_flow", flow_id=flow_id, input_value="hej", version="published")
        assert ran["outputs"] == {"said": "hej"}

    async def test_have_their_flows_as_tools_whatever_others_publish(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Newer flows of a space where somebody may only view push none of theirs out of the list."""
        monkeypatch.setattr(published, "MOST_FLOWS", 1)
        other = await add_space_row(office.database, "Sales")
        await office.hire("seller", Role.PUBLISHER, other)
        person = await add_user(
            office.database,
            "both@example.org",
            roles={office.space: Role.RUNNER, other: Role.VIEWER},
            home=office.space,
        )
        for who, name in (("publisher", "Ours"), ("seller", "Theirs")):
            spec = FLOW.replace("name: Talk", f"name: {name}")
            flow_id = (await done(office.clients[who], "create_flow_from_spec", spec=spec))["flow_id"]
            await done(office.clients[who], "publish_flow", flow_id=flow_id)
        headers = bearer(await add_key(office.database, person))
        async with connected(office.url, headers=headers, path="/mcp/flows") as client:
            assert "ours" in {tool.name for tool in (await client.list_tools()).tools}

    async def test_are_named_in_the_audit_log(self, office: Office) -> None:
        editor = office.clients["editor"]
        flow_id = (await done(editor, "create_flow_from_spec", spec=FLOW))["flow_id"]
        await done(editor, "add_component", flow_id=flow_id, component_type="ChatOutput")
        async with office.database.reading() as session:
            rows = (await session.execute(_ENTRIES, {"id": flow_id})).all()
        assert [(row.action, row.actor_kind) for row in rows] == [("flow.created", "key"), ("flow.draft_saved", "key")]


class TestKeys:
    async def test_with_scopes_do_what_they_are_for(self, office: Office) -> None:
        scopes = [Permission.CATALOG_VIEW.value, Permission.FLOWS_VIEW.value]
        await office.hire("reader", Role.PUBLISHER, office.space, scopes=scopes)
        flow_id = (await done(office.clients["editor"], "create_flow_from_spec", spec=FLOW))["flow_id"]
        reader = office.clients["reader"]
        assert not await office.tools("reader") & EDITING
        assert (await done(reader, "validate_flow", flow_id=flow_id))["runnable"] is True
        assert (await refused(reader, "delete_flow", flow_id=flow_id))["code"] == "permission_missing"

    async def test_for_tests_alone_run_them_and_are_told_what_they_came_to(self, office: Office) -> None:
        editor = office.clients["editor"]
        flow_id = (await done(editor, "create_flow_from_spec", spec=FLOW))["flow_id"]
        await done(editor, "save_tests", flow_id=flow_id, tests=[{"name": "echoes", "text": "hej"}])
        scopes = [Permission.CATALOG_VIEW.value, Permission.RUNS_TEST.value]  # who knocks at all, and the tests
        await office.hire("tester", Role.EDITOR, office.space, scopes=scopes)
        found = await done(office.clients["tester"], "run_tests", flow_id=flow_id)
        assert (found["status"], found["passed"], found["tokens"]) == ("passed", 1, 0)

    async def test_that_are_revoked_end_at_once(self, office: Office) -> None:
        viewer = office.clients["viewer"]
        await done(viewer, "count_components")
        async with office.database.writing() as session:
            await session.execute(_REVOKE)
        with pytest.raises(MCPError):
            await viewer.call_tool("count_components", {})


class TestTenants:
    async def test_see_and_change_nothing_of_each_other(self, office: Office) -> None:
        tenant_id = await add_tenant_row(office.database, "Other")
        space = await add_space_row(office.database, "Theirs", tenant_id=tenant_id)
        await office.hire("stranger", Role.OWNER, space, tenant_id=tenant_id)
        editor, stranger = office.clients["editor"], office.clients["stranger"]
        flow_id = (await done(editor, "create_flow_from_spec", spec=FLOW))["flow_id"]
        run_id = (await done(editor, "run_flow", flow_id=flow_id, input_value="secret plan"))["run_id"]
        await done(editor, "save_tests", flow_id=flow_id, tests=[{"name": "secret", "text": "secret plan"}])
        tested = await done(editor, "run_tests", flow_id=flow_id)
        await done(editor, "write_file", path="mine.txt", content="secret plan")
        tried = 0
        for operation in OPERATIONS.values():
            names = operation.schema.get("properties", {})
            if not {"flow_id", "run_id"} & names.keys() or operation.name in {"list_runs", "list_approvals"}:
                continue
            values = _FILLED | {"flow_id": flow_id, "run_id": run_id, "result_id": tested["result_id"]}
            wanted = {*operation.schema.get("required", ()), "flow_id", "run_id", "result_id"}
            arguments = {name: values[name] for name in names if name in wanted}
            tried += 1
            found = await refused(stranger, operation.name, **arguments)
            assert found["code"] in {"flow_not_found", "run_not_found", "version_not_found"}, operation.name
            assert "secret" not in str(found)
        assert tried > 25
        assert (await done(stranger, "list_flows"))["flows"] == []
        assert (await done(stranger, "list_runs", flow_id=flow_id))["runs"] == []
        assert "error" in await refused(stranger, "read_file", path="mine.txt")
        assert (await stranger.list_resources()).resources == []
        for uri in (f"headgate://flows/{flow_id}/spec", f"headgate://flows/{flow_id}/diagram"):
            with pytest.raises(MCPError, match="There is no flow"):
                await stranger.read_resource(uri)
        with pytest.raises(MCPError, match="There is no run"):
            await stranger.read_resource(f"headgate://runs/{run_id}/evidence")
        assert (await done(editor, "get_flow", flow_id=flow_id))["revision"] == 1


class TestHostileArguments:
    @pytest.mark.parametrize(
        "arguments",
        [
            {"flow_id": "\x00"},
            {"flow_id": "x" * 100_000},
            {"flow_id": {"$ne": 1}},
            {"flow_id": ["a"]},
            {"flow_id": None},
            {"flow_id": "' OR 1=1 --"},
            {"flow_id": "../../etc/passwd"},
            {"flow_id": "\ud7ff\u202e"},
            {"flow_id": "a", "more": 1},
            {},
        ],
    )
    async def test_are_refused_with_a_remedy(self, office: Office, arguments: dict[str, Any]) -> None:
        for tool in ("get_flow", "add_component", "run_flow", "delete_flow"):
            found = await office.clients["publisher"].call_tool(tool, arguments)
            assert found.is_error
            assert isinstance(found.structured_content, dict)
            assert found.structured_content["code"] != "internal_error", found.structured_content
            assert len(text_of(found)) < 2_000

    async def test_may_be_numbers_of_any_size(self, office: Office) -> None:
        viewer = office.clients["viewer"]
        for limit in (-5, 0, 10**9):
            assert (await done(viewer, "list_flows", limit=limit))["flows"] == []
        assert "64 bits" in (await refused(viewer, "list_flows", limit=10**40))["error"]
        deep: Any = "end"
        for _ in range(200):
            deep = [deep]
        values = {"node_id": "b", "params": {"c": deep}}
        found = await refused(office.clients["editor"], "configure_component", flow_id="a", **values)
        assert "nested deeper" in found["error"]

    async def test_never_put_a_mark_in_a_secrets_place(self, office: Office) -> None:
        editor = office.clients["editor"]
        flow_id = (await done(editor, "create_flow", name="Ask"))["flow_id"]
        await done(
            editor,
            "add_component",
            flow_id=flow_id,
            component_type="ChatOutput",
            node_id="ask",
            params={"input": "Use sk-abcdefghijklmnop1"},
        )
        shown = (await done(editor, "get_flow", flow_id=flow_id))["spec"]
        assert "sk-abcdefghijklmnop1" not in shown
        assert "[redacted]" in shown
        assert (await refused(editor, "build_flow", flow_id=flow_id, spec=shown))["code"] == "redacted_value"
        about = {"flow_id": flow_id, "component_id": "ask"}
        for tool in ("get_flow_component_details", "list_flow_component_fields"):
            assert "sk-abcdefghijklmnop1" not in str(await done(editor, tool, **about))
        value = await done(editor, "get_flow_component_field_value", **about, field_name="input")
        assert value["value"] == "Use [redacted]"
        resource = await editor.read_resource(f"headgate://flows/{flow_id}/spec")
        assert "sk-abcdefghijklmnop1" not in str(resource.contents)


class TestBatch:
    async def test_stops_at_the_first_error_and_says_what_was_done(self, office: Office) -> None:
        editor = office.clients["editor"]
        found = await refused(
            editor,
            "batch",
            actions=[
                {"tool": "create_flow", "arguments": {"name": "Made"}},
                {"tool": "add_component", "arguments": {"flow_id": "$0.flow_id", "component_type": "ChatInput"}},
                {"tool": "add_component", "arguments": {"flow_id": "$0.flow_id", "component_type": "Chatinput"}},
                {"tool": "delete_flow", "arguments": {"flow_id": "$0.flow_id"}},
            ],
        )
        assert found["failed_action"] == 2
        assert found["error"].startswith("Action 2 (add_component): There is no component 'Chatinput'")
        assert "2 of 4 actions were completed and are kept" in found["error"]
        assert [one["revision"] for one in found["results"]] == [1, 2]
        assert (await done(editor, "get_flow", flow_id=found["results"][0]["flow_id"]))["revision"] == 2

    async def test_refuses_what_is_no_batch(self, office: Office) -> None:
        editor = office.clients["editor"]
        nested = await refused(editor, "batch", actions=[{"tool": "batch", "arguments": {"actions": []}}])
        assert "A batch cannot contain a batch" in nested["error"]
        many = [{"tool": "count_components"}] * 101
        assert "at most 100" in (await refused(editor, "batch", actions=many))["error"]
        assert (await refused(editor, "batch", actions=[{"tool": "list_flow"}]))["code"] == "unknown_tool"

    async def test_read_documents_only_as_their_readers(self, office: Office) -> None:
        await office.hire("reader", Role.VIEWER, office.space)
        await office.hire("outsider", Role.OWNER, await add_space_row(office.database, "Elsewhere"))
        async with office.database.writing() as session:
            author = member(new_id(), Role.EDITOR, office.space)
            base, document, _ = await add_documents(session, author, new_id(), "secret memo", "Memos")
        uri = f"headgate://knowledge-bases/{base}/documents/{document}"
        read = await office.clients["reader"].read_resource(uri)
        assert [one.model_dump()["text"] for one in read.contents] == ["[Page 1]\n\nsecret memo"]
        with pytest.raises(MCPError, match="There is no knowledge base"):
            await office.clients["outsider"].read_resource(uri)
        async with office.database.writing() as session:
            await session.execute(text("UPDATE knowledge_documents SET reader_role = NULL"))
        with pytest.raises(MCPError, match="There is no document"):
            await office.clients["reader"].read_resource(uri)
