"""Says when Flowise answers otherwise than what was recorded, and than what stands in for it in `make test`.

A difference is listed by its request. Record again, or change `tests/support/flowise_server.py`, and then the code.
"""

import asyncio
import json

import httpx2
import pytest

from headgate.agents.codev.domains.flowise.assembly import assemble
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.spec import read_spec
from tests.flowise.drift import differences
from tests.flowise.exchanges import RECORDED, Exchange, Seen, play, recordings
from tests.flowise.written import reply
from tests.support.flowise_recordings import recording
from tests.support.flowise_server import KEY, flowise_server


@pytest.fixture(scope="module")
def real(wire: httpx2.Client) -> Seen:
    return play(wire)


class TestRecordings:
    def test_are_as_the_server_answers(self, real: Seen) -> None:
        _none(differences(real, recordings(), other_name="recording"))

    async def test_of_an_agentflow_are_as_it_answers(self, client: FlowiseClient, wire: httpx2.Client) -> None:
        nodes = await Catalogue(client, Memory(60), "real").nodes()
        flow_data = json.dumps(assemble(read_spec(reply()), nodes))
        made = await client.create_chatflow("agentflow", "AGENTFLOW", flow_data)
        answer = wire.post(f"/api/v1/prediction/{made.id}", json={"question": "yo"}).json()
        await client.delete_chatflow(made.id)
        seen = {"prediction": Exchange(200, "json", answer)}
        known = {"prediction": Exchange(200, "json", recording("prediction_agentflowv2"))}
        _none(differences(seen, known, other_name="recording"))

    def test_are_nearly_all_compared(self, real: Seen) -> None:
        assert recordings().keys() - real.keys() == {"chatmessage", "prediction_memory"}

    def test_of_the_components_are_exact(self, real: Seen) -> None:
        known = json.loads((RECORDED / "nodes_index_all297.json").read_text())
        assert [_entry(node) for node in _sorted(real["nodes_list"].answer)] == _sorted(known)


class TestStandIn:
    async def test_answers_as_the_server_does(self, real: Seen) -> None:
        async with flowise_server(credentials=[], templates=recording("marketplace_templates")) as stand_in:
            seen = await asyncio.to_thread(_played, stand_in.endpoint)
        _none(differences(real, seen, other_name="stand-in"))


class TestDifferences:
    """The comparison itself: it sees what it is there to see."""

    @pytest.mark.parametrize(
        ("changed", "line"),
        [
            (Exchange(500, "json", {"a": 1}), "x: status 200, copy 500"),
            (Exchange(200, "html", "<p>"), "x: content is json, copy html"),
            (Exchange(200, "json", {}), "x: a is missing from copy"),
            (Exchange(200, "json", {"a": 1, "b": 2}), "x: b is in copy alone"),
            (Exchange(200, "json", {"a": None}), "x: a is a number, copy null"),
            (Exchange(200, "json", []), "x: the answer is an object, copy a list"),
        ],
    )
    def test_are_seen(self, changed: Exchange, line: str) -> None:
        assert differences({"x": Exchange(200, "json", {"a": 1})}, {"x": changed}, other_name="copy") == [line]

    def test_are_none_between_values(self) -> None:
        held = {"x": Exchange(200, "json", {"a": 1, "b": [{"c": "d"}]})}
        other = {"x": Exchange(200, "json", {"a": 2.5, "b": [{"c": "e"}, {"c": "f"}]})}
        assert differences(held, other, other_name="copy") == []


def _none(lines: list[str]) -> None:
    assert not lines, "\n".join(lines)


def _played(endpoint: str) -> Seen:
    headers = {"authorization": f"Bearer {KEY}"}
    with httpx2.Client(base_url=endpoint, headers=headers, timeout=10, trust_env=False) as client:
        return play(client)


def _sorted(nodes: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(nodes, key=lambda node: str(node["name"]))


def _entry(node: dict[str, object]) -> dict[str, object]:
    """As the index was made of what the server told."""
    outputs, credential = node.get("outputs") or [], node.get("credential")
    assert isinstance(outputs, list)
    assert credential is None or isinstance(credential, dict)
    inputs = node.get("inputs") or []
    assert isinstance(inputs, list)
    return {
        **{name: node.get(name) for name in ("name", "label", "category", "version", "baseClasses", "badge")},
        "nInputs": len(inputs),
        "outputs": [output["name"] for output in outputs],
        "credential": credential and credential["credentialNames"],
    }
