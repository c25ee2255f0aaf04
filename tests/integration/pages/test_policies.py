"""Step policies at work, as the page on the text of a flow describes them."""

import io
from typing import Any

import httpx2
import pytest
from pypdf import PdfReader

from headgate.sandbox.documents import maker
from tests.integration.http.conftest import created

CHAIN = """nodes:
  ask: TextInput
    policy:
      {first}
  join: CombineText
    policy:
      {second}
  out: ChatOutput
edges:
  ask.text -> join.parts
  join.text -> out.input
"""
FORM = """form:
  namn: text
  ritning: file
nodes:
  upload: FileInput
    field: ritning
  read: ReadFile
  made: ParseJSON
    text: |
      {"n": [7]}
  out: CombineText
    policy:
      input_bindings:
        title: "{{flow_input.namn}}/{{flow_input.text}}/{{read.output}}/{{upload.file_ids}}/{{made.data.n.0}}"
edges:
  upload.file -> read.file
  read.text -> out.parts
  made.data -> out.parts
"""
NOTHING = "input_source: previous_step"


async def outcome(client: httpx2.AsyncClient, *, first: str = NOTHING, second: str = NOTHING) -> dict[str, Any]:
    """The run of the chain with policies on its first two steps, and the text `short`."""
    flow = await created(client, CHAIN.format(first=first, second=second))
    answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "short", "wait": True})
    found: dict[str, Any] = answer.json()
    return found


class TestInputSource:
    async def test_flow_input_is_what_the_run_was_started_with(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, second="input_source: flow_input")
        assert run["text"] == "short"

    async def test_all_previous_steps_come_in_their_blocks(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, second="input_source: all_previous_steps")
        assert run["text"] == "<step_1_output>\nshort\n</step_1_output>"

    @pytest.mark.parametrize("source", ["http_get", "http_post"])
    async def test_the_web_is_asked_through_the_guard(self, client: httpx2.AsyncClient, source: str) -> None:
        policy = f'{{"input_source": "{source}", "input_config": {{"url": "http://{{{{flow_input.text}}}}:9/x"}}}}'
        flow = await created(client, f"nodes:\n  ask: ParseJSON\n    policy: {policy}\n")
        body = {"text": "127.0.0.1", "wait": True}
        run = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json=body)).json()
        assert run["error"]["code"] == "address_refused"

    @pytest.mark.parametrize("source", ["http_get", "http_post"])
    async def test_an_address_that_the_guard_refuses_is_told_before_the_run(
        self, client: httpx2.AsyncClient, source: str
    ) -> None:
        policy = f'{{"input_source": "{source}", "input_config": {{"url": "http://127.0.0.1:9/x"}}}}'
        flow = await created(client, f"nodes:\n  ask: ParseJSON\n    policy: {policy}\n")
        refused = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})
        assert (refused.status_code, refused.json()["code"]) == (422, "flow_invalid")
        (issue,) = refused.json()["issues"]
        assert (issue["code"], issue["field"]) == ("address", "input_config.url")
        assert "127.0.0.1" in issue["message"]


class TestBindings:
    async def test_win_over_values_and_see_earlier_steps(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, second='input_bindings: {"title": "On {{ask.output}} and {{flow_input.text}}"}')
        assert run["text"].startswith("# On short and short")

    async def test_read_forms_files_and_parts_of_json(self, client: httpx2.AsyncClient) -> None:
        upload = await client.post("/api/v1/files", files={"file": ("a.txt", b"inside", "text/plain")})
        file_id = upload.json()["id"]
        flow = await created(client, FORM)
        answer = await client.post(
            f"/api/v1/flows/{flow['id']}/runs",
            json={"text": "free", "form_data": {"namn": "Åsa", "ritning": file_id}, "wait": True},
        )
        run = answer.json()
        assert run["status"] == "completed", run
        assert run["output"]["outputs"]["out"]["text"].startswith(f"# Åsa/free/inside/{file_id}/7")


class TestFirstStep:
    @pytest.mark.parametrize(
        ("policy", "code"),
        [
            ('{"input_source": "all_previous_steps"}', "policy"),
            ('{"input_bindings": {"parts": "{{join.text}}"}}', "binding"),
            ('{"input_bindings": {"parts": "{{out.output}}"}}', "binding"),
            ('{"input_bindings": {"parts": "{{step_2.output}}"}}', "binding"),
        ],
    )
    async def test_may_not_read_what_comes_after_it(self, client: httpx2.AsyncClient, policy: str, code: str) -> None:
        nodes = f"nodes:\n  join: CombineText\n    policy: {policy}\n  out: ChatOutput\n"
        spec = f"{nodes}edges:\n  join.text -> out.input\n"
        refused = await client.post("/api/v1/flows", json={"spec": spec})
        assert refused.status_code == 422
        assert {one["code"] for one in refused.json()["issues"]} == {code}

    async def test_in_the_middle_of_being_changed_is_kept_told_and_not_published(
        self, client: httpx2.AsyncClient
    ) -> None:
        flow = await created(client, CHAIN.format(first=NOTHING, second=NOTHING))
        definition = flow["definition"]
        definition["nodes"][0]["policy"]["input_source"] = "http_post"  # its address is typed next
        definition["nodes"][1]["policy"]["input_bindings"] = {"parts": "{{gone.output}}"}
        body = {"revision": flow["revision"], "definition": definition}
        saved = await client.patch(f"/api/v1/flows/{flow['id']}/draft", json=body)
        assert saved.status_code == 200
        told = {(one["node"], one["field"]) for one in saved.json()["issues"]}
        assert told == {("ask", "input_config"), ("join", "input_bindings.parts")}
        assert (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).status_code == 422
        assert (await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "x"})).status_code == 422

    async def test_that_needs_an_input_is_refused_when_published(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, "nodes:\n  p: ParseJSON\n")
        refused = await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
        assert [one["code"] for one in refused.json()["issues"]] == ["missing_value"]
        flow = await created(client, "nodes:\n  p: ParseJSON\n    policy:\n      input_source: flow_input\n")
        assert (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).status_code == 200

    async def test_that_reads_the_input_by_itself_may_say_so(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, "nodes:\n  c: ChatInput\n    policy:\n      input_source: flow_input\n")
        answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "hi", "wait": True})
        assert answer.json()["text"] == "hi"


class TestContracts:
    async def test_that_are_broken_fail_the_step_with_the_path(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, first='output_contract: {"type": "text", "max_length": 3}')
        assert run["status"] == "failed"
        assert run["error"]["code"] == "contract_broken"
        assert "$: must have at most 3 characters, has 5" in run["error"]["message"]
        assert run["steps"][0]["status"] == "failed"

    async def test_tell_the_path_inside_over_the_api(self, client: httpx2.AsyncClient) -> None:
        schema = '{"type": "object", "properties": {"who": {"type": "array", "items": {"type": "integer"}}}}'
        policy = f'{{"output_type": "json", "output_contract": {{"type": "json", "schema": {schema}}}}}'
        flow = await created(client, f"nodes:\n  ask: TextInput\n    policy: {policy}\n")
        answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": '{"who": [1, "x"]}', "wait": True})
        run = answer.json()
        assert run["error"]["code"] == "contract_broken"
        assert "$.who[1]" in run["error"]["message"]
        step = (await client.get(f"/api/v1/flow-runs/{run['id']}/steps/ask")).json()
        assert step["error"] == run["error"]

    async def test_of_an_input_are_kept_too(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, second='input_contract: {"type": "json", "schema": {"type": "object"}}')
        assert run["error"]["code"] == "contract_broken"


class TestDocuments:
    async def test_of_a_step_are_files_of_the_run(self, client: httpx2.AsyncClient) -> None:
        nodes = 'ask: TextInput\n    text: "# Åtgärd"\n    policy: {"output_type": "pdf"}\n'
        flow = await created(client, f"nodes:\n  {nodes}")
        run = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})).json()
        assert run["text"] == "# Åtgärd"
        (file_id,) = run["output"]["file_ids"]
        answer = await client.get(f"/api/v1/artifacts/{file_id}")
        assert answer.headers["content-type"] == "application/pdf"
        assert PdfReader(io.BytesIO(answer.content)).pages[0].extract_text().startswith("Åtgärd")

    async def test_are_refused_where_the_packages_are_not_installed(
        self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow = await created(client, 'nodes:\n  ask: TextInput\n    policy: {"output_type": "docx"}\n')
        monkeypatch.setattr(maker, "find_spec", lambda name: None)
        for door in ("runs", "publish"):
            refused = await client.post(f"/api/v1/flows/{flow['id']}/{door}", json={})
            assert (refused.status_code, refused.json()["code"]) == (422, "flow_invalid")
            (issue,) = refused.json()["issues"]
            assert (issue["node"], issue["field"]) == ("ask", "output_type")
            assert issue["remedy"] == "Install them with: pip install 'headgate[documents]'"
