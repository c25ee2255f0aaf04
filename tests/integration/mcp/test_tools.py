"""Every tool, called by the official client, in both revisions of the protocol, on both databases."""

from typing import Any

import pytest
from mcp.client import Client

from headgate.features.access.permissions import Permission
from headgate.toolkit.stored import OPERATIONS
from tests.support.mcp_client import FLOW, REVISIONS, Mode, connected, done, refused, text_of
from tests.support.own_code import REVERSE


class Walk:
    """A client that notes which tools it called."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.called: set[str] = set()

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.called.add(tool)
        return await done(self.client, tool, **arguments)


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
            await _files(walk)
            await _own_component(walk)
            found = await walk("batch", actions=[{"tool": "count_components"}])
            assert found["done"] == 1
            await walk("delete_flow", flow_id=flow_id)
            assert (await refused(client, "get_flow", flow_id=flow_id))["code"] == "flow_not_found"
            assert walk.called == OPERATIONS.keys()


async def _catalogue(walk: Walk) -> None:
    found = await walk("search_components", query="read a web page")
    assert found["components"][0]["type"] == "URL"
    assert (await walk("search_components", query="qqqq"))["hint"]
    assert "prompt" in {field["name"] for field in (await walk("get_component", component_type="AIStep"))["inputs"]}
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
    assert [(one["flow_id"], one["diagram"]) for one in listed] == [(flow_id, "heard:ChatInput -> said:ChatOutput")]
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
    undone = await walk("undo_last", flow_id=flow_id, revision=renamed["revision"])
    assert "shape:" in (await walk("get_flow", flow_id=flow_id))["spec"]
    again = await walk("undo_last", flow_id=flow_id, revision=undone["revision"])
    assert await walk("get_flow_text_representation", flow_id=flow_id) == before
    stale = await refused(walk.client, "undo_last", flow_id=flow_id, revision=undone["revision"])
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

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    found = await walk.client.call_tool("run_flow", {"flow_id": flow_id, "input_value": "hej"}, progress_callback=tell)
    walk.called.add("run_flow")
    ran: Any = found.structured_content
    assert (ran["status"], ran["outputs"]) == ("completed", {"said": "hej"}), text_of(found)
    assert told[0] == f"the run {ran['run_id']} has begun"
    assert told[-1].endswith(" is done")
    published = await walk("run_flow", flow_id=flow_id, input_value="hej", version="published", wait=False)
    assert published["status"] == "queued"
    run = await walk("get_run", run_id=ran["run_id"])
    assert (run["text"], [step["status"] for step in run["steps"]]) == ("hej", ["completed", "completed"])
    listed = await walk("list_runs", flow_id=flow_id, limit=1)
    assert [one["run_id"] for one in listed["runs"]] == [published["run_id"]]
    assert "more" in listed
    wanted = [{"name": "heard", "text": "hej", "expect": {"contains": ["HEJ"]}}, {"name": "nothing"}]
    assert (await walk("save_tests", flow_id=flow_id, tests=wanted))["tests"] == 2
    tested = await walk("run_tests", flow_id=flow_id, trials=2)
    assert (tested["status"], tested["passed"], tested["of"]) == ("failed", 2, 4)
    assert {(one["test"], one["why"]) for one in tested["failures"]} == {("nothing", "the answer is empty")}
    bad = await refused(walk.client, "save_tests", flow_id=flow_id, tests=[{"name": "x", "expect": {"like": "y"}}])
    assert "expect.like" in bad["error"]
    assert (await walk("cancel_run", run_id=ran["run_id"]))["changed"] is False
    evidence = await walk("get_run_evidence", run_id=ran["run_id"])
    assert (evidence["status"], evidence["steps"]) == ("completed", 2)
    read = await walk.client.read_resource(evidence["resource"])
    assert evidence["seal"]["head"] in _text(read.contents[0])


async def _files(walk: Walk) -> None:
    await walk("write_file", path="notes/plan.md", content="one\ntwo\n")
    await walk("edit_file", path="notes/plan.md", old_string="two", new_string="three")
    assert "three" in str(await walk("read_file", path="notes/plan.md"))
    assert "notes/plan.md" in str(await walk("glob_search", pattern="**/*.md"))
    assert "notes/plan.md" in str(await walk("grep_search", pattern="thr.e", is_regex=True))
    assert "error" in await refused(walk.client, "read_file", path="../../etc/passwd")


async def _own_component(walk: Walk) -> None:
    made = await walk("register_component", code=REVERSE)
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
        wrong = [one.name for one in OPERATIONS.values() if (one.kind == "read") != (one.permission in reading)]
        assert set(wrong) == {"batch", "write_file", "edit_file"}
