"""A local server that speaks as Flowise 3.1.4 was recorded, with its quirks, and as no server should.

State is in memory. Quirks: HTML with 200 for unknown routes, 500 for a component that is not there, rows that are kept
although the answer is an error, ids of clients ignored, one list bare and the same list in pages. `hostile` replaces
the answers of a path by something that does harm to who trusts it.
"""

import asyncio
import gzip
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.support.flowise_recordings import CREDENTIAL, recorded_nodes, recording

KEY = "flowise-test-key-0123456789abcdef"
HTML = recording("unknown_route")
Hostile = Callable[[asyncio.StreamWriter], Awaitable[None]]
Answer = Callable[[str], str]
WORKSPACE = "95f71d5d-7b4e-4a10-9d2c-59cf023c6f2c"
_TYPES = ("CHATFLOW", "AGENTFLOW", "MULTIAGENT", "ASSISTANT")
_BLANK: dict[str, Any] = dict.fromkeys(
    [
        *("deployed", "isPublic", "apikeyid", "chatbotConfig", "apiConfig", "analytic", "speechToText"),
        *("textToSpeech", "followUpPrompts", "category", "mcpServerConfig"),
    ]
) | {"webhookSecretConfigured": False}
_SEALED = {"encryptedData": "U2FsdGVkX183KQwET5pR03J70Sf8slZh88LzJIgsuueWZieoVe"}
_DELETED = {"raw": [], "affected": 1}
_ENDING = ("Chains", "Agents", "Engine", "Multi Agents", "Sequential Agents")


@dataclass
class Refused(Exception):
    """An answer that is an error."""

    status: int
    message: str


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class FlowiseServer:
    """One server and what it was asked."""

    port: int = 0
    nodes: list[dict[str, Any]] = field(default_factory=recorded_nodes)
    templates: list[dict[str, Any]] = field(default_factory=list)
    chatflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    credentials: list[dict[str, Any]] = field(
        default_factory=lambda: [dict(one) for one in recording("credentials_list")]
    )
    asked: list[Asked] = field(default_factory=list)
    writes: int = 0
    """Chatflows that were made, changed or deleted."""
    connections: int = 0
    at_once: int = 0
    most_at_once: int = 0
    delay: float = 0.0
    """Seconds before each answer: the real one hashes keys for 50 to 130 ms."""
    save_then_fail: int = 0
    """How many writes are kept and answered with 500."""
    save_then_hang_up: int = 0
    """How many writes are kept and answered with nothing."""
    hostile: dict[str, Hostile] = field(default_factory=dict)
    """By the path that follows `/api/v1`."""
    answers: Answer = field(default=lambda question: f"echo: {question}")
    keeps: Callable[[str], str] = field(default=lambda sent: sent)
    """What is kept of a chatflow that is sent."""
    after_read: Callable[["FlowiseServer"], None] | None = None
    """Called when a chatflow was read: somebody else may save before it is written."""
    after_write: Callable[["FlowiseServer"], None] | None = None
    """Called when a change is kept: somebody else may save at the same moment."""
    _ticks: int = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, method: str, path: str) -> int:
        """How often something was asked."""
        return sum(one.method == method and one.path.split("?")[0] == path for one in self.asked)

    def add(self, name: str, flow: dict[str, Any], type_: str = "CHATFLOW") -> str:
        """A chatflow that somebody made in the canvas."""
        return str(self._make({"name": name, "type": type_, "flowData": json.dumps(flow)})["id"])

    def flow(self, flow_id: str) -> dict[str, Any]:
        """What a chatflow holds."""
        found: dict[str, Any] = json.loads(self.chatflows[flow_id]["flowData"])
        return found

    def save(self, flow_id: str, flow: dict[str, Any]) -> None:
        """What somebody saves in the canvas."""
        self.chatflows[flow_id] |= {"flowData": json.dumps(flow), "updatedDate": self._now()}

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Status and JSON; text is HTML."""
        path, _, query = asked.path.removeprefix("/api/v1").partition("?")
        parts = path.strip("/").split("/")
        if path == "/ping":
            return 200, "pong"
        if path == "/version":
            return 200, recording("version")
        if parts[0] != "prediction" and asked.headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"error": "Unauthorized Access"}
        handler = getattr(self, f"_{asked.method.lower()}_{parts[0].replace('-', '_')}", None)
        if handler is None:
            return 200, HTML
        try:
            return 200, handler(parts[1:], query, asked.body)
        except Refused as error:
            return error.status, {"statusCode": error.status, "success": False, "message": error.message, "stack": {}}

    def _get_nodes(self, parts: list[str], _query: str, _body: Any) -> Any:
        if not parts:
            return self.nodes
        found = next((one for one in self.nodes if one["name"] == parts[0]), None)
        if found is None:
            raise Refused(500, f"Error: nodesService.getAllNodes - Node {parts[0]} not found")
        return found

    def _get_marketplaces(self, parts: list[str], _query: str, _body: Any) -> Any:
        return self.templates if parts == ["templates"] else HTML

    def _get_validation(self, _parts: list[str], _query: str, _body: Any) -> Any:
        return []

    def _get_credentials(self, parts: list[str], _query: str, _body: Any) -> Any:
        if not parts:
            return self.credentials
        return self._credential(parts[0]) | {"plainDataObj": {"openAIApiKey": f"_FLOWISE_BLANK_{uuid.uuid4()}"}}

    def _post_credentials(self, _parts: list[str], _query: str, body: Any) -> Any:
        row = {"id": str(uuid.uuid4()), "name": body["name"], "credentialName": body["credentialName"]}
        row |= {"createdDate": self._now(), "updatedDate": self._now(), "workspaceId": WORKSPACE}
        self.credentials.append(row)
        return row | _SEALED

    def _put_credentials(self, parts: list[str], _query: str, body: Any) -> Any:
        row = self._credential(parts[0])
        row |= {"name": body["name"], "updatedDate": self._now()}
        return row | _SEALED

    def _delete_credentials(self, parts: list[str], _query: str, _body: Any) -> Any:
        self.credentials.remove(self._credential(parts[0]))
        return _DELETED

    def _credential(self, identity: str) -> dict[str, Any]:
        return next(one for one in self.credentials if one["id"] == identity)

    def _post_node_load_method(self, parts: list[str], _query: str, _body: Any) -> Any:
        return recording("load_method_listModels") if parts == ["chatOpenAI"] else []

    def _get_components_credentials(self, parts: list[str], _query: str, _body: Any) -> Any:
        every = [*recording("components_credentials_list"), recording("components_credentials_openAIApi")]
        return every if not parts else next(one for one in every if one["name"] == parts[0])

    def _get_chatflows(self, parts: list[str], query: str, _body: Any) -> Any:
        if parts:
            row = dict(self._row(parts[0]))
            if self.after_read is not None:
                self.after_read(self)
            return row
        rows = sorted(self.chatflows.values(), key=lambda one: one["updatedDate"], reverse=True)
        asked = dict(one.split("=") for one in query.split("&") if "=" in one)
        if "page" not in asked:
            return rows
        page, limit = int(asked["page"]), int(asked["limit"])
        return {"data": rows[(page - 1) * limit : page * limit], "total": len(rows)}

    def _post_chatflows(self, _parts: list[str], _query: str, body: Any) -> Any:
        if body.get("type") not in _TYPES:
            raise Refused(400, "Invalid Chatflow Type")
        try:
            flow = json.loads(body["flowData"])
        except ValueError as error:
            raise Refused(500, str(error)) from None
        row = self._make(body)
        self.writes += 1
        if "edges" not in flow:
            raise Refused(500, "Cannot read properties of undefined (reading 'map')")
        return self._saved(row)

    def _put_chatflows(self, parts: list[str], _query: str, body: Any) -> Any:
        row = self._row(parts[0])
        if body.get("type", "CHATFLOW") not in _TYPES:
            raise Refused(400, "Invalid Chatflow Type")
        try:
            json.loads(body.get("flowData", "{}"))
        except ValueError as error:
            raise Refused(500, str(error)) from None
        row |= {key: value for key, value in body.items() if key in {"name", "flowData", "type", "deployed"}}
        row["flowData"] = self.keeps(row["flowData"])
        row["updatedDate"] = self._now()
        self.writes += 1
        answer = self._saved(dict(row))
        if self.after_write is not None:
            self.after_write(self)
        return answer

    def _delete_chatflows(self, parts: list[str], _query: str, _body: Any) -> Any:
        try:
            self._row(parts[0])
        except Refused as error:
            raise Refused(500, f"Error: chatflowsService.deleteChatflow - {error.message}") from None
        del self.chatflows[parts[0]]
        self.writes += 1
        return _DELETED

    def _post_prediction(self, parts: list[str], _query: str, body: Any) -> Any:
        row = self._row(parts[0])
        flow = json.loads(row["flowData"])
        datas = {one["id"]: one["data"] for one in flow["nodes"]}
        if row["type"] != "AGENTFLOW":
            ends = {one["target"] for one in flow["edges"]} - {one["source"] for one in flow["edges"]}
            ends |= set(datas) if len(datas) == 1 else set()
            if not ends:
                raise Refused(
                    500, "Error: chatflowsService.checkIfChatflowIsValidForStreaming - Ending nodes not found"
                )
            if not any(self._ends(datas[one]) for one in ends if one in datas):
                raise Refused(500, "Error: Ending node must be either a Chain or Agent or Engine")
        session = body.get("overrideConfig", {}).get("sessionId") or str(uuid.uuid4())
        found = {"text": self.answers(body["question"]), "question": body["question"], "chatId": session}
        return found | {"chatMessageId": str(uuid.uuid4()), "isStreamValid": False, "sessionId": session}

    @staticmethod
    def _ends(data: dict[str, Any]) -> bool:
        return data.get("outputs", {}).get("output") == "EndingNode" or data.get("category") in _ENDING

    def _row(self, flow_id: str) -> dict[str, Any]:
        try:
            uuid.UUID(flow_id)
        except ValueError:
            raise Refused(400, "Invalid Chatflow ID") from None
        if flow_id not in self.chatflows:
            raise Refused(404, f"Chatflow {flow_id} not found in the database!")
        return self.chatflows[flow_id]

    def _make(self, body: dict[str, Any]) -> dict[str, Any]:
        row = {"id": str(uuid.uuid4()), "name": body["name"], "type": body["type"]}
        row["flowData"] = self.keeps(body["flowData"])
        row |= {**_BLANK, "workspaceId": WORKSPACE, "createdDate": self._now(), "updatedDate": self._now()}
        self.chatflows[row["id"]] = row
        return row

    def _saved(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.save_then_hang_up:
            self.save_then_hang_up -= 1
            raise ConnectionResetError
        if self.save_then_fail:
            self.save_then_fail -= 1
            raise Refused(500, "Cannot read properties of undefined (reading 'map')")
        return row | {"webhookSecret": None}

    def _now(self) -> str:
        self._ticks += 1
        return f"2026-11-21T01:{self._ticks // 60:02}:{self._ticks % 60:02}.000Z"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                hostile = self.hostile.get(asked.path.removeprefix("/api/v1").partition("?")[0])
                if hostile is not None:
                    await hostile(writer)
                    break
                await self._answer(asked, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.delay:
                await asyncio.sleep(self.delay)
            status, found = self.answer(asked)
        finally:
            self.at_once -= 1
        is_json = not isinstance(found, str)
        body = json.dumps(found).encode() if is_json else found.encode()
        media = "application/json; charset=utf-8" if is_json else "text/html; charset=UTF-8"
        writer.write(head(status, media, f"Content-Length: {len(body)}") + body)
        await writer.drain()


def head(status: int, media: str, *lines: str) -> bytes:
    """The head of an answer."""
    found = [f"HTTP/1.1 {status} Flowise", f"Content-Type: {media}", *lines]
    return "\r\n".join(found).encode() + b"\r\n\r\n"


JSON = "application/json"


async def endless(writer: asyncio.StreamWriter) -> None:
    """A list that never ends, up to 600 MB."""
    writer.write(head(200, JSON) + b"[")
    piece = b'{"name":"' + b"x" * 65_000 + b'"},'
    for _ in range(9_300):
        writer.write(piece)
        await writer.drain()


async def announced(writer: asyncio.StreamWriter) -> None:
    """600 MB are announced."""
    writer.write(head(200, JSON, "Content-Length: 629145600") + b"[")
    await writer.drain()
    await asyncio.sleep(5)


async def drip(writer: asyncio.StreamWriter) -> None:
    """A byte now and then: no silence is long, and there is no end."""
    writer.write(head(200, JSON))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silent(_writer: asyncio.StreamWriter) -> None:
    """Nothing at all."""
    await asyncio.sleep(30)


async def huge_headers(writer: asyncio.StreamWriter) -> None:
    """50 MB of headers."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(800):
        writer.write(f"X-{number}: ".encode() + b"h" * 65_000 + b"\r\n")
        await writer.drain()
    writer.write(b"\r\n")


async def squeezed(writer: asyncio.StreamWriter) -> None:
    """A hundred kilobytes that become 20 MB."""
    body = gzip.compress(b" " * (20 * 1024 * 1024), compresslevel=1)
    writer.write(head(200, JSON, "Content-Encoding: gzip", f"Content-Length: {len(body)}") + body)
    await writer.drain()


def whole(body: bytes | str, *lines: str, status: int = 200, media: str = JSON) -> Hostile:
    """A whole answer."""
    content = body.encode() if isinstance(body, str) else body

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, media, f"Content-Length: {len(content)}", "Connection: close", *lines) + content)
        await writer.drain()

    return write


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    method, path, _ = lines[0].split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, json.loads(body) if body else None)


@asynccontextmanager
async def flowise_server(port: int = 0, **settings: Any) -> AsyncIterator[FlowiseServer]:
    """Run one for the length of a block."""
    found = FlowiseServer(**settings)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with suppress(asyncio.CancelledError):
            await found.serve(reader, writer)
        tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


__all__ = ["CREDENTIAL", "KEY", "FlowiseServer", "flowise_server"]
