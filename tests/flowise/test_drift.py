"""Says when Flowise answers otherwise than what was recorded, and than what stands in for it in `make test`.

A difference is listed by its request. Record again, or change `tests/support/flowise_server.py`, and then the code.
"""

import json

import httpx2
import pytest

from tests.flowise.drift import differences
from tests.flowise.exchanges import RECORDED, Exchange, Seen, play, recordings
from tests.support.flowise_server import FlowiseServer


@pytest.fixture(scope="module")
def real(wire: httpx2.Client) -> Seen:
    return play(wire)


class TestRecordings:
    def test_are_as_the_server_answers(self, real: Seen) -> None:
        assert differences(real, recordings(), other_name="recording") == []

    def test_are_nearly_all_compared(self, real: Seen) -> None:
        assert recordings().keys() - real.keys() == {"chatmessage", "prediction_memory"}

    def test_of_the_components_are_exact(self, real: Seen) -> None:
        known = json.loads((RECORDED / "nodes_index_all297.json").read_text())
        assert [_entry(node) for node in _sorted(real["nodes_list"].answer)] == _sorted(known)


class TestStandIn:
    def test_answers_as_the_server_does(self, real: Seen) -> None:
        with FlowiseServer() as stand_in:
            headers = {"authorization": f"Bearer {stand_in.key}"}
            with httpx2.Client(base_url=stand_in.origin, headers=headers, trust_env=False) as client:
                seen = play(client)
        assert differences(real, seen, other_name="stand-in") == []


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
