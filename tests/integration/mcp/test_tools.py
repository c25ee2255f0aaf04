"""Every tool, called by the official client, in both revisions of the protocol, on both databases."""

import asyncio
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp.client import Client

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.foundation.errors import Unauthenticated
from headgate.toolkit.operations import OPERATIONS
from tests.support.api_documents import ISSUES, as_json
from tests.support.mcp_client import FLOW, REVISIONS, Mode, connected, done, refused, text_of
from tests.support.own_code import REVERSE
from tests.support.patience import PATIENCE_SECONDS

ENDLESS = (
    "name: Talk\nnodes:\n  heard: ChatInput\n  step: Python\n    source: |\n      def run(inputs):\n"
    "          return sum(1 for _ in iter(int, 1))\n  said: ChatOutput\nedges:\n  heard.message -> step.inputs\n"
    "  step.text -> said.input\n"
)


class Walk:
    """A client that notes which tools it called."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.called: set[str] = set()

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.called.add(tool)
        return await done(self.client, tool, **arguments)


async def test_a_public_trigger_that_is_switched_on_is_not_changed(url: str) -> None:
    """A client could otherwise remove the verification of a live address."""
    async with connected(url) as client, httpx2.AsyncClient(trust_env=False) as page:
        flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
        signed, open_ = ({"kind": "webhook", "verification": name} for name in ("github", "none"))
        made = await done(client, "set_trigger", flow_id=flow_id, name="Calls", source=signed)
        trigger = f"{url.removesuffix('/mcp')}/api/v1/triggers/{made['trigger_id']}"
        assert (await page.post(f"{trigger}/resume")).status_code == 200
        live = await refused(client, "set_trigger", flow_id=flow_id, name="Calls", source=open_)
        assert "switched on" in live["error"]
        assert (await page.get(trigger)).json()["config"]["verification"] == "github"
        assert (await page.post(f"{trigger}/pause", json={})).status_code == 200
        assert (await done(client, "set_trigger", flow_id=flow_id, name="Calls", source=open_))["enabled"] is False


@pytest.mark.parametrize("mode", REVISIONS)
class TestEveryTool:
    async def test_does_its_work(self, url: str, mode: Mode) -> None:
        async with connected(url, mode) as client:
            assert client.protocol_version == REVISIONS[mode]
            walk = Walk(client)
            await _catalogue(walk)
            flow_id = await _flows(walk)
            await _editing(walk, flow_id)
            await _looking(walk, flow_id)
            await _runs(walk, flow_id)
            await _approvals(walk)
            await _triggers(walk, flow_id)
            await _tests(walk, flow_id)
            await _parts(walk, flow_id)
            await _surroundings(walk, flow_id)
            await _services(walk, url)
            await _state(walk, flow_id)
            await _composition(walk)
            await _files(walk)
            await _own_component(walk)
            found = await walk("batch", actions=[{"tool": "count_components"}])
            assert found["done"] == 1
            await walk("delete_flow", flow_id=flow_id)
            assert (await refused(client, "get_flow", flow_id=flow_id))["code"] == "flow_not_found"
            assert walk.called == OPERATIONS.keys()


class TestTestsOfAFlow:
    async def test_that_changed_meanwhile_are_not_overwritten(self, url: str) -> None:
        async with connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            read = await done(client, "save_tests", flow_id=flow_id, tests=[{"name": "greets", "text": "one"}])
            theirs = [{"name": "greets", "text": "two"}]
            now = await done(client, "save_tests", flow_id=flow_id, tests=theirs, revision=read["revision"])
            mine = {"tests": [{"name": "greets", "text": "three"}], "revision": read["revision"]}
            late = await refused(client, "save_tests", flow_id=flow_id, **mine)
            assert (late["code"], late["revision"]) == ("stale_tests", now["revision"])
            assert (await done(client, "get_tests", flow_id=flow_id))["tests"] == theirs

    async def test_are_read_in_pages_when_they_are_long(self, url: str) -> None:
        async with connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            tests = [{"name": str(number), "text": "x" * 30_000} for number in range(3)]
            await done(client, "save_tests", flow_id=flow_id, tests=tests)
            first = await done(client, "get_tests", flow_id=flow_id)
            assert (first["tests"], first["more"]) == (
                tests[:1],
                "There are more: call again with after='0'.",
            )
            last = await done(client, "get_tests", flow_id=flow_id, after="1")
            assert (last["tests"], "more" in last) == (tests[2:], False)

    async def test_are_begun_looked_at_later_and_ended(self, url: str) -> None:
        async with connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=ENDLESS))["flow_id"]
            assert (await refused(client, "get_test_result", flow_id=flow_id))["code"] == "test_result_not_found"
            await done(client, "save_tests", flow_id=flow_id, tests=[{"name": "greets", "text": "hello"}])
            begun = await done(client, "run_tests", flow_id=flow_id, wait=False)
            assert (begun["status"], begun["of"], "get_test_result" in begun["hint"]) == ("running", 1, True)
            which = {"flow_id": flow_id, "result_id": begun["result_id"]}
            assert (await done(client, "get_tests", flow_id=flow_id))["result_id"] == begun["result_id"]
            assert (await done(client, "get_test_result", **which))["status"] == "running"
            assert await done(client, "cancel_tests", **which) == {
                "result_id": begun["result_id"],
                "status": "cancelled",
                "changed": True,
            }
            assert "Cancelled by" in (await done(client, "get_test_result", **which))["reason"]

    async def test_are_not_run_more_often_than_ten_times_each(self, url: str) -> None:
        async with connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            await done(client, "save_tests", flow_id=flow_id, tests=[{"name": "greets", "text": "hello"}])
            many = await refused(client, "run_tests", flow_id=flow_id, trials=11)
            assert (many["code"], "less than or equal to 10" in many["error"]) == ("bad_arguments", True)
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert listed["run_tests"].input_schema["properties"]["trials"]["maximum"] == 10

    async def test_end_when_whoever_began_them_is_not_let_in_any_more(
        self, app: FastAPI, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def nobody(_request: object) -> Principal:
            raise Unauthenticated("The key was revoked.")

        async with connected(url) as client:
            flow_id = (await done(client, "create_flow_from_spec", spec=FLOW))["flow_id"]
            await done(client, "save_tests", flow_id=flow_id, tests=[{"name": "greets", "text": "hello"}])
            monkeypatch.setattr(app.state.identity, "again", nobody)
            found = await done(client, "run_tests", flow_id=flow_id)
            assert (found["status"], found["passed"]) == ("cancelled", 0)
            assert "The key was revoked." in found["reason"]


async def _catalogue(walk: Walk) -> None:
    found = await walk("search_components", query="read a web page")
    assert found["components"][0]["type"] == "URL"
    assert (await walk("search_components", query="qqqq"))["hint"]
    assert "prompt" in {field["name"] for field in (await walk("get_component", component_type="AIStep"))["inputs"]}
    described = await walk("describe_component", component_type="AIStep")
    assert described["inputs"] == (await walk("get_component", component_type="AIStep"))["inputs"]
    assert "input_source" in (await walk("read_grammar", topic="policy"))["text"]
    kinds = (await walk("list_component_types"))["categories"]
    counted = await walk("count_components")
    assert counted["components"] == sum(len(types) for types in kinds.values())
    only = (await walk("list_component_types", category="WEB"))["categories"]
    assert only == {"web": kinds["web"]}
    template = (await walk("search_templates", query="summarise a document", limit=1))["templates"][0]
    assert len((await walk("search_templates", tags=template["tags"]))["templates"]) >= 1
    made = await walk("create_flow_from_template", template_id=template["template_id"], name="Mine")
    assert (made["name"], made["revision"]) == ("Mine", 1)
    assert made["nodes"] > 1


async def _flows(walk: Walk) -> str:
    empty = await walk("create_flow", name="Empty", description="Nothing in it")
    assert (empty["nodes"], empty["issues"]) == (0, [])
    flow_id: str = (await walk("create_flow_from_spec", spec=FLOW))["flow_id"]
    listed = (await walk("list_flows", query="talk"))["flows"]
    assert [(one["flow_id"], one["diagram"]) for one in listed] == [
        (flow_id, "1. heard (ChatInput), 2. said (ChatOutput)")
    ]
    first = await walk("list_flows", limit=1)
    assert first["flows"][0]["flow_id"] in first["more"]
    assert (await walk("get_flow", flow_id=flow_id))["spec"] == FLOW
    assert (await walk("validate_flow", flow_id=flow_id))["runnable"] is True
    assert (await walk("validate_flow", flow_id=empty["flow_id"]))["runnable"] is False
    assert (await walk("publish_flow", flow_id=flow_id, notes="First"))["release"] == 1
    assert [one["notes"] for one in (await walk("list_versions", flow_id=flow_id))["versions"]] == ["First"]
    return flow_id


async def _editing(walk: Walk, flow_id: str) -> None:
    added = await walk("add_component", flow_id=flow_id, component_type="PromptTemplate", node_id="shape")
    assert (added["revision"], added["node_id"]) == (2, "shape")
    cut = {"source_id": "heard", "source_output": "message", "target_id": "said", "target_input": "input"}
    await walk("disconnect_components", flow_id=flow_id, **cut)
    field = await walk("get_component", component_type="PromptTemplate")
    names = [one["name"] for one in field["inputs"]]
    await walk("configure_component", flow_id=flow_id, node_id="shape", params={names[0]: "You said {{heard.text}}"})
    made = {"source_id": "shape", "source_output": field["outputs"][0]["name"]}
    await walk("connect_components", flow_id=flow_id, **made, target_id="said", target_input="input")
    renamed = await walk("rename_component", flow_id=flow_id, node_id="shape", new_id="form")
    before = await walk("get_flow_text_representation", flow_id=flow_id)
    assert "form:" in before["text"]
    undone = await walk("undo", flow_id=flow_id, revision=renamed["revision"])
    assert "shape:" in (await walk("get_flow", flow_id=flow_id))["spec"]
    again = await walk("undo", flow_id=flow_id, revision=undone["revision"], to=renamed["revision"])
    assert await walk("get_flow_text_representation", flow_id=flow_id) == before
    stale = await refused(walk.client, "undo", flow_id=flow_id, revision=undone["revision"])
    assert (stale["code"], stale["revision"]) == ("stale_revision", again["revision"])
    await walk("remove_component", flow_id=flow_id, node_id="form")
    built = await walk("build_flow", flow_id=flow_id, spec=FLOW)
    assert (built["nodes"], built["edges"]) == (2, 1)


async def _looking(walk: Walk, flow_id: str) -> None:
    graph = await walk("visualize_flow_graph", flow_id=flow_id)
    assert graph["diagram"] == (await walk("get_flow_ascii_diagram", flow_id=flow_id))["diagram"]
    assert "○" in graph["diagram"]
    summary = await walk("get_flow_structure_summary", flow_id=flow_id)
    assert summary["types"] == {"ChatInput": 1, "ChatOutput": 1}
    assert (summary["runnable"], summary["is_chat"]) == (True, True)
    assert (await walk("describe_flow_io", flow_id=flow_id))["runnable"] is True
    details = await walk("get_flow_component_details", flow_id=flow_id, component_id="heard")
    assert details["outputs"] == ["heard.message -> said.input"]
    fields = await walk("list_flow_component_fields", flow_id=flow_id, component_id="heard")
    assert fields["fields"] == details["fields"]
    await walk(
        "update_flow_component_field", flow_id=flow_id, component_id="heard", field_name="text", new_value="Hello"
    )
    about = {"flow_id": flow_id, "component_id": "heard", "field_name": "text"}
    value = await walk("get_flow_component_field_value", **about)
    assert (value["value"], value["set"]) == ("Hello", True)
    await walk("update_flow_component_field", **about, new_value=None)
    assert (await walk("get_flow_component_field_value", **about))["set"] is False


async def _runs(walk: Walk, flow_id: str) -> None:
    told: list[str] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    found = await walk.client.call_tool(
        "run_flow", {"flow_id": flow_id, "input_value": "hej"}, progress_callback=report
    )
    walk.called.add("run_flow")
    ran: Any = found.structured_content
    assert (ran["status"], ran["outputs"]) == ("completed", {"said": "hej"}), text_of(found)
    assert told[0] == f"run {ran['run_id']} has started"
    assert told[-1].endswith(" is completed")
    published = await walk("run_flow", flow_id=flow_id, input_value="hej", version="published", wait=False)
    assert published["status"] == "queued"
    run = await walk("read_run", run_id=ran["run_id"])
    assert (run["text"], [step["status"] for step in run["steps"]]) == ("hej", ["completed", "completed"])
    listed = await walk("list_runs", flow_id=flow_id, limit=1)
    assert [one["run_id"] for one in listed["runs"]] == [published["run_id"]]
    assert "more" in listed
    assert (await walk("cancel_run", run_id=ran["run_id"]))["changed"] is False
    event = await walk("send_event", name="paid", correlation="7", data={"sum": 40}, key="mcp")
    again = await walk("send_event", name="paid", correlation="7", data={"sum": 40}, key="mcp")
    assert (event["status"], event["deliveries"], event["duplicate"], again["duplicate"]) == ("kept", 0, False, True)
    events = await walk("list_events", name="paid")
    assert [(one["event_id"], one["correlation"]) for one in events["events"]] == [(event["event_id"], "7")]
    assert (events["waiting"], events["more"]) == ([], False)
    assert (await walk("list_events", name="other"))["events"] == []
    evidence = await walk("get_run_evidence", run_id=ran["run_id"])
    assert (evidence["status"], evidence["steps"]) == ("completed", 2)
    read = await walk.client.read_resource(evidence["resource"])
    assert evidence["seal"]["head"] in _text(read.contents[0])


ASKS = """name: Asks
nodes:
  heard: ChatInput
  check: Approval
    question: Send it?
    editable: ["*"]
  said: ChatOutput
edges:
  heard.text -> check.value
  check.approve -> said.input
"""


async def _approvals(walk: Walk) -> None:
    flow_id = (await walk("create_flow_from_spec", spec=ASKS))["flow_id"]
    ran = await walk("run_flow", flow_id=flow_id, input_value="Dear Eva", deadline_seconds=3600)
    assert (ran["status"], ran["outputs"]) == ("waiting", {})
    paused = await walk("pause_run", run_id=ran["run_id"])
    assert (paused["status"], paused["changed"]) == ("paused", True)
    assert (await walk("pause_run", run_id=ran["run_id"]))["changed"] is False
    assert (await walk("continue_run", run_id=ran["run_id"]))["status"] == "waiting"
    assert "list_approvals" in ran["hint"]
    steps = {step["step_id"]: step for step in (await walk("read_run", run_id=ran["run_id"]))["steps"]}
    assert steps["check"]["waits_for"] == (
        "approval: 'Send it?' (0 of 1 approvals), by every user who may run the flow"
    )
    (line,) = (await walk("list_approvals", run_id=ran["run_id"]))["approvals"]
    assert (line["question"], line["flow"], line["can_decide"]) == ("Send it?", "Asks", True)
    assert {"kind": "approvals", "count": 1} in (await walk("list_attention"))["items"]
    read = await walk("read_approval", approval_id=line["approval_id"])
    assert (read["value"], read["editable"]) == ("Dear Eva", ["*"])
    about = {"approval_id": line["approval_id"], "decision": "approve", "edits": {"*": "Dear Eve"}}
    for content_hash in ("", "0" * 64):
        await refused(walk.client, "decide_approval", **about, content_hash=content_hash)
    decided = await walk("decide_approval", **about, content_hash=read["content_hash"], comment="Fine")
    assert (decided["status"], decided["decisions"][0]["comment"]) == ("approved", "Fine")
    late = await refused(walk.client, "decide_approval", **about, content_hash=read["content_hash"])
    assert late["code"] == "approval_decided"
    assert (await walk("list_approvals", show="decided"))["approvals"][0]["approval_id"] == line["approval_id"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (run := await walk("read_run", run_id=ran["run_id"]))["status"] != "completed":  # noqa: ASYNC110 - clients ask again
            await asyncio.sleep(0.05)
    assert run["text"] == "Dear Eve"


async def _triggers(walk: Walk, flow_id: str) -> None:
    made = await walk(
        "set_schedule", flow_id=flow_id, name="Daily", cron="0 7 * * MON-FRI", time_zone="Europe/Stockholm"
    )
    assert (made["fires"], len(made["next"])) == ("At 07:00 on weekdays (Europe/Stockholm)", 3)
    assert all("07:00:00" in local for local in made["next"])
    changed = await walk("set_schedule", flow_id=flow_id, name="Daily", cron="0 8 * * *")
    assert (changed["trigger_id"], changed["fires"]) == (made["trigger_id"], "At 08:00 every day (Europe/Stockholm)")
    assert [line["name"] for line in (await walk("list_triggers", flow_id=flow_id))["triggers"]] == ["Daily"]
    wrong = await refused(walk.client, "set_schedule", flow_id=flow_id, name="Daily", cron="0 7 32W * *")
    assert wrong["code"] == "schedule_invalid"
    source = {"kind": "folder", "pattern": "*.txt", "every_seconds": 600}
    polls = await walk("set_trigger", flow_id=flow_id, name="News", source=source)
    assert polls["fires"] == "For each new or changed file *.txt in the workspace, looked at every 10 minutes"
    again = await walk("set_trigger", flow_id=flow_id, name="News", source={"kind": "folder", "every_seconds": 60})
    assert (again["trigger_id"], again["fires"][-12:]) == (polls["trigger_id"], "every minute")
    other = await refused(walk.client, "set_trigger", flow_id=flow_id, name="Daily", source=source)
    assert other["code"] == "invalid"
    for name, public in (("Calls", {"kind": "webhook", "verification": "github"}), ("Questions", {"kind": "form"})):
        made = await walk("set_trigger", flow_id=flow_id, name=name, source=public)
        assert (made["enabled"], "switched off" in made["note"]) == (False, True)
        assert not {"secret", "path"} & made.keys()
        assert ("secret" in made["note"]) == (public["kind"] == "webhook")
    unknown = await refused(walk.client, "set_trigger", flow_id=flow_id, name="Wrong", source={"kind": "schedule"})
    assert "webhook" in unknown["remedy"]


async def _tests(walk: Walk, flow_id: str) -> None:
    wanted = [{"name": "heard", "text": "hej", "expect": {"contains": ["HEJ"]}}, {"name": "nothing"}]
    saved = await walk("save_tests", flow_id=flow_id, tests=wanted)
    read = await walk("get_tests", flow_id=flow_id)
    assert (saved["tests"], read["revision"], read["standing"]) == (2, saved["revision"], "never")
    assert read["tests"] == wanted
    assert (await walk("get_tests", flow_id=flow_id, after="heard"))["tests"] == wanted[1:]
    tested = await walk("run_tests", flow_id=flow_id, trials=2)
    assert (tested["status"], tested["passed"], tested["of"]) == ("failed", 2, 4)
    assert {(one["test"], one["why"]) for one in tested["failures"]} == {("nothing", "the answer is empty")}
    assert await walk("get_test_result", flow_id=flow_id) == tested
    assert (await walk("cancel_tests", flow_id=flow_id, result_id=tested["result_id"]))["changed"] is False
    bad = await refused(walk.client, "save_tests", flow_id=flow_id, tests=[{"name": "x", "expect": {"like": "y"}}])
    assert "expect.like" in bad["error"]


async def _parts(walk: Walk, flow_id: str) -> None:
    structure = await walk("read_flow", flow_id=flow_id)
    assert structure["total"]["nodes"] == len(structure["nodes"])
    ids = [line.partition(":")[0] for line in structure["nodes"]]
    assert "values" in await walk("read_flow", flow_id=flow_id, node_id=ids[0])
    assert await walk("get_field_value", flow_id=flow_id, node_id=ids[0])
    before = (await walk("get_flow", flow_id=flow_id))["revision"]
    edited = await walk("edit_flow", flow_id=flow_id, form=[{"id": "city"}], settings={"data_retention_days": 30})
    assert edited["revision"] == before + 1
    assert (await walk("read_flow", flow_id=flow_id, part="form"))["form"] == [{"id": "city", "type": "text"}]
    framed = await walk("group_components", flow_id=flow_id, node_ids=ids[:1], title="First")
    groups = (await walk("read_flow", flow_id=flow_id, part="groups"))["groups"]
    assert groups == [{"id": framed["node_id"], "title": "First", "nodes": ids[:1]}]
    await walk("edit_flow", flow_id=flow_id, form=[])


async def _state(walk: Walk, flow_id: str) -> None:
    assert (await walk("list_state", flow_id=flow_id))["state"] == []
    written = await walk("write_state", flow_id=flow_id, name="last_order", value={"no": 7}, expected_version=0)
    assert written["version"] == 1
    stale = await refused(walk.client, "write_state", flow_id=flow_id, name="last_order", value=8, expected_version=0)
    assert stale["code"] == "state_changed"
    found = await walk("read_state", flow_id=flow_id, name="last_order")
    assert (found["value"], [entry["version"] for entry in found["history"]]) == ({"no": 7}, [1])
    assert [line["name"] for line in (await walk("list_state", flow_id=flow_id))["state"]] == ["last_order"]
    assert (await walk("delete_state", flow_id=flow_id, name="last_order"))["deleted"] is True


WORDS = """name: Words
nodes:
  heard: ChatInput
  first: PromptTemplate
    template: "{words} one"
  said: ChatOutput
edges:
  heard.text -> first.words
  first.text -> said.input
"""


async def _composition(walk: Walk) -> None:
    flow_id = (await walk("create_flow_from_spec", spec=WORDS))["flow_id"]
    extracted = await walk("extract_flow", flow_id=flow_id, node_ids=["first"], name="One", publish=True)
    assert (extracted["node_id"], extracted["published_version"], extracted["revision"]) == ("one", 1, 2)
    assert extracted["repeats"] == ""
    steps = (await walk("dry_run", flow_id=flow_id, input_value="hej"))["steps"]
    inner = [line for line in steps if "first (PromptTemplate" in line]
    assert [len(line) - len(line.lstrip()) for line in inner] == [4], (
        "the steps of the called flow are indented below it"
    )
    refusal = await refused(walk.client, "extract_flow", flow_id=flow_id, node_ids=["heard"], name="None")
    assert refusal["issues"][0]["code"] == "cannot_move"
    inlined = await walk("inline_flow", flow_id=flow_id, node_id="one", revision=2)
    assert inlined["node_ids"] == ["first"]
    each = await walk("extract_flow", flow_id=flow_id, node_ids=["first"], name="Each", repeat="each")
    assert each["repeats"] == "Step 'each' runs the flow 'Each' for each item of heard.text."


async def _surroundings(walk: Walk, flow_id: str) -> None:
    tried = await walk("dry_run", flow_id=flow_id, input_value="hej")
    assert tried["would_run"] is True
    assert tried["steps"]
    assert "not_ready" in await walk("list_models")
    assert (await walk("list_mcp_servers"))["servers"] == []
    assert isinstance((await walk("list_variables"))["variables"], list)
    uploaded = await walk("upload_file", name="hello.txt", text="hello")
    assert (uploaded["name"], uploaded["size_bytes"]) == ("hello.txt", 5)
    assert "A file has one source of content" in (await refused(walk.client, "upload_file", name="a.txt"))["error"]


async def _services(walk: Walk, url: str) -> None:
    async with httpx2.AsyncClient(base_url=f"{url.removesuffix('/mcp')}/api/v1", timeout=30) as page:
        fields, secrets = {"url": "https://crm.example.org"}, {"token": "never-shown-again"}
        made = await page.post(
            "/connections", json={"name": "crm", "kind": "bearer", "fields": fields, "secrets": secrets}
        )
        assert made.status_code == 201, made.text
        found = await walk("list_connections")
        (crm,) = found["connections"]
        assert (crm["name"], crm["kind"], crm["hosts"]) == ("crm", "bearer", ["https://crm.example.org"])
        assert "never-shown-again" not in str(found)
        described = await page.put("/connections/crm/api", json={"content": as_json(ISSUES).decode()})
        assert described.status_code == 200, described.text
        (create,) = (await walk("search_api_operations", connection="crm", query="create issue"))["operations"]
        assert create["operation"] == "POST /projects/{project}/issues"
        detail = await walk("read_api_operation", connection="crm", operation=create["operation"])
        assert detail["arguments"]["required"] == ["project", "body"]
        base = (await page.post("/knowledge-bases", json={"name": "Handbook"})).json()["id"]
        file = (await page.post("/files", files={"file": ("leave.md", b"Employees have 27 days of holiday.")})).json()
        body = {"file_id": file["id"], "metadata": {"team": "hr"}}
        document = (await page.post(f"/knowledge-bases/{base}/documents", json=body)).json()["id"]
        async with asyncio.timeout(60):
            while (await page.get(f"/knowledge-bases/{base}/documents/{document}")).json()["status"] != "ready":  # noqa: ASYNC110 - the server indexes it
                await asyncio.sleep(0.05)
    (listed,) = (await walk("list_knowledge"))["knowledge_bases"]
    assert (listed["name"], listed["metadata"]) == ("Handbook", ["team"])
    answer = await walk(
        "search_knowledge", base="Handbook", query="holiday", filters=[{"key": "team", "in": ["hr", "it"]}]
    )
    assert (answer["words_only"], answer["vector_recall"]) == ("no_model", None)
    (passage,) = answer["passages"]
    others = [{"key": "team", "equals": "it"}]
    assert (await walk("search_knowledge", base="Handbook", query="holiday", filters=others))["passages"] == []
    assert (passage["document"], passage["text"]) == ("leave.md", "Employees have 27 days of holiday.")
    (content,) = (await walk.client.read_resource(passage["uri"])).contents
    assert content.model_dump()["text"] == passage["text"]
    await _evaluations(walk, url)


async def _evaluations(walk: Walk, url: str) -> None:
    none = await refused(walk.client, "evaluate_knowledge", base="Handbook")
    assert none["code"] == "no_knowledge_questions", none
    async with httpx2.AsyncClient(base_url=f"{url.removesuffix('/mcp')}/api/v1", timeout=30) as page:
        base = (await page.get("/knowledge-bases")).json()["items"][0]["id"]
        (document,) = (await page.get(f"/knowledge-bases/{base}/documents")).json()["items"]
        for question in ("How many days of holiday?", "Which zebra?"):
            body = {"question": question, "document_ids": [document["id"]], "answer": "27"}
            assert (await page.post(f"/knowledge-bases/{base}/questions", json=body)).status_code == 201
    listed = (await walk("list_knowledge_questions", base="Handbook"))["questions"]
    assert [(line["documents"], line["answer"]) for line in listed] == [(["leave.md"], "27")] * 2
    evaluated = await walk("evaluate_knowledge", base=base, limit=5)
    (measure,) = evaluated["measures"]
    assert (measure["way"], measure["recall"], measure["complete"], evaluated["k"]) == ("lexical", 0.5, 1, 5)
    assert evaluated["missed"] == [{"question": "Which zebra?", "way": "lexical", "documents": ["leave.md"]}]
    (line,) = (await walk("list_knowledge_evaluations", base="Handbook"))["evaluations"]
    assert (line["id"], line["measures"]) == (evaluated["id"], evaluated["measures"])
    assert await walk("read_knowledge_evaluation", base="Handbook", evaluation=line["id"]) == evaluated


async def _files(walk: Walk) -> None:
    await walk("write_file", path="notes/plan.md", content="one\ntwo\n")
    await walk("edit_file", path="notes/plan.md", old_string="two", new_string="three")
    assert "three" in str(await walk("read_file", path="notes/plan.md"))
    assert "notes/plan.md" in str(await walk("glob_search", pattern="**/*.md"))
    assert "notes/plan.md" in str(await walk("grep_search", pattern="thr.e", is_regex=True))
    assert "error" in await refused(walk.client, "read_file", path="../../etc/passwd")


async def _own_component(walk: Walk) -> None:
    proposed = await walk("propose_component", code=REVERSE)
    assert (proposed["stored"], proposed["reach"]["hosts"]) == (False, [])
    missing = await walk("search_components", query=proposed["class_name"])
    assert proposed["class_name"] not in {one["type"] for one in missing["components"]}
    other = REVERSE.replace("class", "\nclass", 1)
    refusal = await refused(walk.client, "register_component", code=other, proposal_id=proposed["proposal_id"])
    assert refusal["code"] == "component_not_proposed"
    made = await walk("register_component", code=REVERSE, proposal_id=proposed["proposal_id"])
    assert made["kept"] is True
    found = await walk("search_components", query=made["class_name"])
    assert made["class_name"] in {one["type"] for one in found["components"]}


def _text(content: Any) -> str:
    text: str = content.text
    return text


class TestPermissions:
    def test_are_those_of_the_toolkit(self) -> None:
        """No operation asks for less than the route that does the same."""
        reading = {Permission.FLOWS_VIEW, Permission.RUNS_VIEW, Permission.CATALOG_VIEW, Permission.WORKSPACE_USE}
        reading |= {Permission.VARIABLES_VIEW, Permission.MCP_SERVERS_VIEW}
        reading |= {Permission.CONNECTIONS_VIEW, Permission.KNOWLEDGE_VIEW}
        wrong = [one.name for one in OPERATIONS.values() if (one.kind == "read") != (one.permission in reading)]
        evaluations = {"list_knowledge_questions", "list_knowledge_evaluations", "read_knowledge_evaluation"}
        assert set(wrong) == {"batch", "write_file", "edit_file", "dry_run"} | evaluations, "editors read evaluations"
