"""What a Flowise server answers that means harm, or is broken: each ends soon, small, and with one clear error.

Beside `test_client`, where answers are too large, too late or no JSON, and `test_red_team`, where they are after a key.
"""

import asyncio
import json
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from headgate.agents.codev.domain import Answer, Change
from headgate.agents.codev.domains.flowise.client import FlowiseClient
from headgate.agents.codev.domains.flowise.workplace import FlowiseWorkplace
from headgate.agents.codev.writing.placing import UNKNOWN
from headgate.foundation.errors import HeadgateError
from headgate.foundation.quoting import CUT
from headgate.foundation.settings import MEBIBYTE
from headgate.graph.cases import TestCase
from tests.support import flowise_server as hostile
from tests.support.flowise_recordings import recorded_flow
from tests.support.flowise_server import FlowiseServer, Hostile
from tests.support.patience import PATIENCE_SECONDS

LONGEST = PATIENCE_SECONDS
"""Seconds that any of it may take on a busy machine; that no answer comes is known after one."""
MOST_WORK = 20.0
"""Seconds of one core. The largest takes one; what grows with the square of it would take hours."""
LARGEST = 64 * MEBIBYTE
UNSEEN = "\x1b\x07\u202e\u2066\u200b"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
GZIP = HEAD + b"Content-Encoding: gzip\r\n"


def raw(*pieces: bytes, reset: bool = False) -> Hostile:
    """These bytes, and an end."""

    async def write(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if reset:
            await asyncio.sleep(0.05)
            writer.transport.abort()

    return write


def without_end(first: bytes, again: bytes, pause: float = 0.0) -> Hostile:
    """Bytes, and more of the same for as long as somebody listens."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    return write


@contextmanager
def bounded() -> Iterator[None]:
    """Soon over, and small."""
    began, worked = time.monotonic(), time.process_time()
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - began < LONGEST
    assert time.process_time() - worked < MOST_WORK
    assert peak < LARGEST


BROKEN: dict[str, tuple[Hostile, str]] = {
    "no HTTP": (raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"), "not HTTP"),
    "nothing at all": (raw(b""), "closed the connection"),
    "no content type": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"), "instead of JSON"),
    "less than announced": (raw(HEAD + b"Content-Length: 900\r\n\r\n[]"), "closed the connection"),
    "more than announced": (raw(HEAD + b"Content-Length: 1\r\n\r\n[{}]"), "not JSON"),
    "a length that is none": (raw(HEAD + b"Content-Length: -1\r\n\r\n[]"), "not HTTP"),
    "two lengths": (raw(HEAD + b"Content-Length: 2\r\nContent-Length: 4\r\n\r\n[{}]"), "not HTTP"),
    "a length of 5,000 digits": (raw(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n[]"), "not HTTP|more than"),
    "a chunk of 2 to the 80": (raw(CHUNKED + b"f" * 20 + b"\r\n[]"), "closed"),
    "a chunk size that is none": (raw(CHUNKED + b"-2\r\n[]\r\n0\r\n\r\n"), "not HTTP"),
    "an endless chunk extension": (without_end(CHUNKED + b"1;x=", b"x" * 65536), "not HTTP"),
    "tiny chunks with large extensions": (
        without_end(CHUNKED, (b"1;x=" + b"x" * 4096 + b"\r\n \r\n") * 16),
        "did not send a complete response within",
    ),
    "endless trailers": (
        without_end(CHUNKED + b"2\r\n[]\r\n0\r\n", b"X: " + b"x" * 65536 + b"\r\n"),
        "not HTTP",
    ),
    "a storm of 1xx": (without_end(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000), ("did not send a complete"
                                                                                     " response within")),
    "another protocol": (raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "HTTP|JSON|closed|answered"),
    "a head a byte at a time": (without_end(HEAD + b"X: ", b"x", 0.02), "did not send a complete response within"),
    "a reset in the body": (raw(HEAD + b"Content-Length: 900\r\n\r\n[", reset=True), "broke|closed the connection"),
    "a reset in the head": (raw(b"HTTP/1.1 200 OK\r\nContent-", reset=True), "broke|closed the connection"),
    "half a gzip": (raw(GZIP + b"Content-Length: 4\r\n\r\n\x1f\x8b\x08\x00"), "not JSON|decompressed"),
    "gzip that is none": (raw(GZIP + b"Content-Length: 2\r\n\r\n[]"), "decompressed"),
    "another compression": (raw(HEAD + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\n[]"), "compression"),
    "a redirect to a cloud": (
        hostile.whole("", "Location: http://169.254.169.254/latest/meta-data/", status=307),
        "redirect",
    ),
    "a redirect to a file": (hostile.whole("", "Location: file:///etc/passwd", status=302), "redirect"),
    "no content": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "JSON"),
    "an unheard status": (hostile.whole('{"message": "x"}', status=999), "answered 999"),
    "10,000 lists in lists": (hostile.whole("[" * 10_000 + "]" * 10_000), "not JSON|no list of nodes|more than"),
    "half a character": (hostile.whole('[{"name": "\\ud800"}]'), "not JSON"),
    "a byte order mark": (hostile.whole(b"\xef\xbb\xbf[]"), "not JSON"),
    "infinity": (hostile.whole("[Infinity, -Infinity]"), "not JSON"),
    "a number of 100,000 digits": (hostile.whole("[" + "9" * 100_000), "not JSON"),
    "200,000 empty objects": (hostile.whole("[" + "{}," * 200_000 + "{}]"), "is too large"),
}  # fmt: skip


LATE = "did not send a complete response within"


class TestAnswersThatAreNone:
    @pytest.mark.parametrize("what", BROKEN)
    async def test_end_with_one_clear_error_and_the_next_answer_is_read(
        self, server: FlowiseServer, client: FlowiseClient, hurried: FlowiseClient, what: str
    ) -> None:
        answer, words = BROKEN[what]
        asked = hurried if LATE in words else client
        server.hostile["/nodes"] = answer
        with bounded(), pytest.raises(HeadgateError, match=words) as caught:
            await asked.list_nodes()
        assert caught.value.status in {502, 504}
        assert len(str(caught.value)) < 500
        server.hostile.clear()
        assert await client.version() == "3.1.4"

    @pytest.mark.parametrize("what", ["a redirect to a file", "a reset in the body", "no content", "nothing at all"])
    async def test_to_a_write_leave_it_open_whether_it_was_made(
        self, server: FlowiseServer, client: FlowiseClient, what: str
    ) -> None:
        """Its status is one after which a write is looked for, and not one after which nothing was written."""
        flow_id = server.add("x", {})
        server.hostile[f"/chatflows/{flow_id}"] = BROKEN[what][0]
        with pytest.raises(HeadgateError) as caught:
            await client.update_chatflow(flow_id, "{}")
        assert caught.value.status in UNKNOWN


def node(number: int, **data: Any) -> dict[str, Any]:
    """A node as a canvas keeps it."""
    return {"id": f"n{number}", "data": {"id": f"n{number}", "name": "customFunction", **data}}


def edge(source: int, target: int) -> dict[str, str]:
    """An edge as a canvas keeps it."""
    return {"source": f"n{source}", "target": f"n{target}", "sourceHandle": "a-output-b-c", "targetHandle": "d"}


CHATFLOWS: dict[str, str] = {
    "10,000 lists in lists": '{"nodes": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "two members of a name": '{"nodes": [], "edges": [], "nodes": [{"id": 1}], "edges": 3}',
    "50,000 nodes": json.dumps({"nodes": [{"id": "n"}] * 50_000, "edges": []}),
    "2,000 nodes in a circle": json.dumps(
        {
            "nodes": [{"id": f"n{number}"} for number in range(2000)],
            "edges": [edge(number, (number + 1) % 2000) for number in range(2000)],
        }
    ),
    "nodes that lead to themselves": json.dumps(
        {"nodes": [node(number) for number in range(300)], "edges": [edge(number, number) for number in range(300)]}
    ),
    "all to all": json.dumps(
        {
            "nodes": [node(number) for number in range(40)],
            "edges": [edge(one, two) for one in range(40) for two in range(40)],
        }
    ),
    "one id": json.dumps({"nodes": [node(0)] * 400, "edges": [edge(0, 0)] * 400}),
    "names of what languages are made of": json.dumps(
        {
            "__proto__": {"polluted": True},
            "constructor": {"prototype": {}},
            "nodes": [node(0, inputs={"__proto__": 1, "constructor": 2, "__class__": "x"}, __proto__={"a": 1})],
            "edges": [{"__proto__": {}, "source": "__proto__", "target": "constructor"}],
        }
    ),
    "what nobody sees": json.dumps(
        {"nodes": [{"id": UNSEEN, "data": {"name": UNSEEN, "label": UNSEEN, "inputs": {UNSEEN: UNSEEN}}}], "edges": []}
    ),
    "other types everywhere": json.dumps(
        {
            "nodes": [{"id": 1, "data": []}, {"id": "n", "data": {"inputs": [1], "inputParams": {"a": 1}}}, None, "n"],
            "edges": [None, 3, {"source": {}, "target": []}],
            "viewport": "x",
        }
    ),
    "numbers too large": '{"nodes": [{"id": "n", "position": {"x": 1e400, "y": -1e400}}], "edges": []}',
}


class TestChatflows:
    @pytest.mark.parametrize("what", CHATFLOWS)
    async def test_are_read_described_compared_and_checked_or_refused(
        self, place: FlowiseWorkplace, server: FlowiseServer, what: str
    ) -> None:
        flow_id = server.add(f"Odd {UNSEEN}", {})
        server.chatflows[flow_id]["flowData"] = CHATFLOWS[what]
        writes = server.writes
        with bounded():
            told = [await ask(place, "describe_chatflow", chatflow_id=flow_id)]
            try:
                held = await place.read(flow_id)
            except HeadgateError as error:
                told.append({"error": str(error)})
            else:
                change = await changed(place, held)
                told += [{"faults": [*map(str, place.preflight(Change(held.definition, "same")))]}]
                told += [{"lines": [*place.compare({}, held.definition)]}, {"change": [*map(str, change)]}]
        assert all(not {*UNSEEN} & {*text} for text in texts(told))
        assert len(json.dumps(told)) < 200_000
        assert server.writes == writes


async def ask(place: FlowiseWorkplace, name: str, /, **given: Any) -> Answer:
    """What a reading tool answers."""
    tool = next(one for one in place.tools if one.name == name)
    assert tool.read is not None
    return await tool.read(given)


async def changed(place: FlowiseWorkplace, held: Any) -> Sequence[Any]:
    """The faults of a small change to what is there, or the refusal to make it."""
    tool = next(one for one in place.tools if one.name == "add_node")
    assert tool.change is not None
    found = await tool.change(held, {"node": {"id": "mine", "name": "calculator"}})
    return place.preflight(found) if isinstance(found, Change) else [found["error"]]


def texts(value: Any) -> Iterator[str]:
    """Every text in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from texts(one)


class TestIds:
    @pytest.mark.parametrize("name", ["../../apikey", "a/b", "a?b=c", "a%2fb", "a\r\nX: y", "..", "x" * 101, "é", ""])
    async def test_that_lead_elsewhere_are_never_asked_for(
        self, place: FlowiseWorkplace, client: FlowiseClient, server: FlowiseServer, name: str
    ) -> None:
        server.chatflows["x"] = server.chatflows.pop(server.add("x", {})) | {"id": name}
        found: Any = await ask(place, "list_chatflows")
        assert found["chatflows"] == []
        before = len(server.asked)
        for call in (client.get_chatflow, client.delete_chatflow, lambda one: client.predict(one, {})):
            with pytest.raises(HeadgateError):
                await call(name)
        assert len(server.asked) == before


class TestPredictions:
    @pytest.mark.parametrize(
        "answer",
        [
            {"text": UNSEEN * 1000 + "x", "executionId": UNSEEN},
            {"text": "x" * 3_000_000},
            {"text": "x", "chatMessageId": ["m"], "executionId": {"a": 1}},
            {"text": "x", "agentFlowExecutedData": [{"data": {"output": {"usageMetadata": {"input_tokens": 10**30}}}}]},
            {"text": "x", "agentFlowExecutedData": [{"data": {"output": {"usageMetadata": {"input_tokens": -5}}}}]},
            {"text": "x", "agentFlowExecutedData": [{"data": {"output": {"usageMetadata": {"input_tokens": True}}}}]},
            {"text": "x", "agentFlowExecutedData": {"data": []}},
            {"text": "x", "__proto__": {"text": "y"}, "constructor": 1},
        ],
        ids=lambda one: str(one)[:40],
    )
    async def test_that_are_odd_are_bounded_answers(
        self, place: FlowiseWorkplace, server: FlowiseServer, answer: dict[str, Any]
    ) -> None:
        flow_id = server.add("x", recorded_flow("two_customfunction"))
        server.hostile[f"/prediction/{flow_id}"] = hostile.whole(json.dumps(answer))
        with bounded():
            found = await place.run_case(flow_id, TestCase(name="one"), session="s")
        assert found.answer.endswith(("x", "[truncated]")) or "number" in found.error or "JSON" in found.error
        assert len(found.answer.removesuffix(CUT)) <= 100_000
        assert len(found.run_id) <= 100
        assert not {*"\x1b\u202e\u200b\x00"} & {*found.answer, *found.run_id}
        assert 0 <= found.input_tokens < 10**9
