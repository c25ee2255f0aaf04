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
        policy = f'{{"input_source": "{source}", "input_config": {{"url": "http://127.0.0.1:9/x"}}}}'
        flow = await created(client, f"nodes:\n  ask: ParseJSON\n    policy: {policy}\n")
        refused = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})).json()
        assert refused["error"]["code"] == "address_refused"


class TestBindings:
    async def test_win_over_values_and_see_earlier_steps(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, second='input_bindings: {"title": "On {{ask.output}} and {{flow_input.text}}"}')
        assert run["text"].startswith("# On short and short")


class TestContracts:
    async def test_that_are_broken_fail_the_step_with_the_path(self, client: httpx2.AsyncClient) -> None:
        run = await outcome(client, first='output_contract: {"type": "text", "max_length": 3}')
        assert run["status"] == "failed"
        assert run["error"]["code"] == "contract_broken"
        assert "$: must have at most 3 characters, has 5" in run["error"]["message"]
        assert run["steps"][0]["status"] == "failed"

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
        started = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})).json()
        assert started["code"] == "documents_not_installed"
        assert started["remedy"] == "Install them with: pip install 'headgate[documents]'"
        published = (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).json()
        assert "pip install 'headgate[documents]'" in str(published)
