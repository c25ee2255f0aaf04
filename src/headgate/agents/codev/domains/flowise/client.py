"""A client of one Flowise server: limited in size, time and number of requests, with Headgate's errors.

It speaks through the guarded client: a name is resolved once for a connection and checked, redirects are not followed,
nothing is tried again, and the key is in no message. Flowise hashes the key at every request, 50 to 130 ms of work, so
few are sent at once.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import JsonValue, SecretStr

from headgate.agents.codev.domains.flowise.answers import (
    CHATFLOW_ID,
    Chatflow,
    CredentialSchema,
    Prediction,
    StoredCredential,
    chatflow_of,
    credential_of,
    credential_schema_of,
    objects,
    prediction_of,
)
from headgate.agents.codev.domains.flowise.errors import (
    AnswerTooLarge,
    ChatflowNotFound,
    FlowiseFailed,
    FlowiseUnreachable,
    KeyRefused,
)
from headgate.agents.codev.domains.flowise.quoting import one_line, quoted
from headgate.foundation.errors import TooLarge, UpstreamFailed
from headgate.foundation.guarded_http import (
    BadUrl,
    GuardedHttp,
    HttpAnswer,
    Resolver,
    TooManyRedirects,
    system_resolver,
)
from headgate.foundation.guarded_http.outgoing import FLOWISE, FLOWISE_OPERATOR
from headgate.foundation.settings import MEBIBYTE, HttpSettings, OutgoingSettings

MOST_BYTES = 8 * MEBIBYTE
"""Limit of the two large responses: nodes (0.7 MB) and templates (1.7 MB in Flowise 3.1)."""
USUAL_BYTES = 4 * MEBIBYTE
SMALL_BYTES = MEBIBYTE // 4
MOST_PARTS = 200_000
"""Objects and lists of one response: three bytes of an empty one take sixty in memory.

All of Flowise's nodes are 7,000.
"""
MOST_NODES = 3000
MOST_ROWS = 2000
AT_ONCE = 4
SHORTEST_KEY = 8


@dataclass(frozen=True, slots=True)
class Server:
    """Address and API key of a Flowise server."""

    id: str
    endpoint: str
    key: SecretStr
    vouched: bool
    """Whether the operator named it: then it may be in a private network."""


class FlowiseClient:
    """One server. Close it.

    Args:
        server: Which.
        http: Which private networks are open to servers that the operator did not name.
        outgoing: The operator's proxy.
        timeout_seconds: Longest time for one answer.
        resolver: Looks names up.
    """

    def __init__(
        self,
        server: Server,
        http: HttpSettings,
        outgoing: OutgoingSettings,
        timeout_seconds: float,
        *,
        resolver: Resolver = system_resolver,
    ) -> None:
        self._server = server
        self._root = server.endpoint.rstrip("/")
        row = FLOWISE_OPERATOR if server.vouched else FLOWISE
        limits = HttpSettings(
            allowed_internal_cidrs=http.allowed_internal_cidrs,
            max_response_bytes=MOST_BYTES,
            timeout_seconds=timeout_seconds,
        )
        self._http = GuardedHttp(row.limits(limits), outgoing, resolver=resolver, pauses=())
        self._seconds = timeout_seconds
        self._free = asyncio.Semaphore(AT_ONCE)

    def __repr__(self) -> str:
        return f"FlowiseClient({self._server.id!r}, {self._root!r})"

    @property
    def root(self) -> str:
        """Address of the server, without a slash at its end."""
        return self._root

    async def close(self) -> None:
        """Close every connection."""
        await self._http.close()

    async def version(self) -> str:
        """Return the reported version; empty when unknown."""
        answer = await self._call("GET", "/version", limit=SMALL_BYTES)
        return one_line(answer.get("version"), 40) if isinstance(answer, dict) else ""

    async def list_nodes(self) -> list[dict[str, Any]]:
        """Every component as the server describes it."""
        return objects(self._listed(await self._call("GET", "/nodes", limit=MOST_BYTES), "nodes"), MOST_NODES)

    async def list_templates(self) -> list[dict[str, Any]]:
        """Every template of the marketplace with its `flowData`."""
        answer = await self._call("GET", "/marketplaces/templates", limit=MOST_BYTES)
        return objects(self._listed(answer, "templates"), MOST_ROWS)

    async def list_chatflows(self, *, page: int, limit: int) -> list[Chatflow]:
        """Return a page of chatflows, counted from 1, with their contents, newest change first.

        Raises `AnswerTooLarge`: a smaller page may be none.
        """
        answer = await self._call("GET", f"/chatflows?page={page}&limit={limit}", limit=MOST_BYTES)
        rows = answer.get("data") if isinstance(answer, dict) else answer
        made = [chatflow_of(row) for row in objects(self._listed(rows, "chatflows"), MOST_ROWS)]
        return [chatflow for chatflow in made if chatflow is not None]

    async def get_chatflow(self, chatflow_id: str) -> Chatflow:
        """One chatflow. Raises `ChatflowNotFound`."""
        answer = await self._call("GET", _path("/chatflows", chatflow_id), flow=chatflow_id)
        return self._chatflow(answer, chatflow_id)

    async def create_chatflow(self, name: str, type_: str, flow_data: str) -> Chatflow:
        """Create one. A failing server may have stored it anyway: search for it before retrying."""
        body: dict[str, JsonValue] = {"name": name, "type": type_, "flowData": flow_data}
        return self._chatflow(await self._call("POST", "/chatflows", body))

    async def update_chatflow(self, chatflow_id: str, flow_data: str, *, name: str | None = None) -> Chatflow:
        """Update a chatflow's contents, and its name if given."""
        body: dict[str, JsonValue] = {"flowData": flow_data}
        if name is not None:
            body["name"] = name
        answer = await self._call("PUT", _path("/chatflows", chatflow_id), body, flow=chatflow_id)
        return self._chatflow(answer, chatflow_id)

    async def delete_chatflow(self, chatflow_id: str) -> None:
        """Delete one. Raises `ChatflowNotFound`, also where the server reports it as an internal error."""
        await self._call("DELETE", _path("/chatflows", chatflow_id), flow=chatflow_id, limit=SMALL_BYTES)

    async def predict(self, chatflow_id: str, body: dict[str, JsonValue]) -> Prediction:
        """Send a message to a chatflow. Raises `FlowiseFailed` with the server's message when it fails."""
        result = await self._call("POST", _path("/prediction", chatflow_id), body, flow=chatflow_id)
        answer = prediction_of(result) if isinstance(result, dict) else None
        if answer is None:
            raise FlowiseFailed(
                f"The server '{self._server.id}' returned a prediction without text.",
                remedy="End the flow with a node that returns a text or an object.",
            )
        return answer

    async def list_credentials(self) -> list[StoredCredential]:
        """Return credentials by name and type; values are never requested."""
        rows = self._listed(await self._call("GET", "/credentials", limit=USUAL_BYTES), "credentials")
        made = [credential_of(row) for row in objects(rows, MOST_ROWS)]
        return [credential for credential in made if credential is not None]

    async def list_credential_schemas(self) -> list[CredentialSchema]:
        """Return the fields of each credential type."""
        rows = self._listed(await self._call("GET", "/components-credentials", limit=USUAL_BYTES), "credential types")
        made = [credential_schema_of(row) for row in objects(rows, MOST_ROWS)]
        return [schema for schema in made if schema is not None]

    async def create_credential(self, name: str, type_: str, values: dict[str, JsonValue]) -> None:
        """Create a credential. The response is discarded, and no error repeats what was sent."""
        body: dict[str, JsonValue] = {"name": name, "credentialName": type_, "plainDataObj": values}
        await self._call("POST", "/credentials", body, limit=SMALL_BYTES, quiet=True)

    async def _call(
        self,
        method: str,
        path: str,
        body: dict[str, JsonValue] | None = None,
        *,
        limit: int = USUAL_BYTES,
        flow: str | None = None,
        quiet: bool = False,
    ) -> Any:  # noqa: ANN401 - JSON of a server
        answer = await self._send(method, path, body, limit)
        if answer.status >= 400:
            raise self._refusal(answer, flow, quiet=quiet)
        if answer.media_type != "application/json":
            raise self._strange(f"{one_line(answer.media_type, 60)} instead of JSON")
        try:
            return orjson.loads(answer.content)
        except orjson.JSONDecodeError:
            raise self._strange("a response that is not JSON") from None

    async def _send(self, method: str, path: str, body: dict[str, JsonValue] | None, limit: int) -> HttpAnswer:
        headers = {"Accept": "application/json"}
        if self._server.key.get_secret_value():
            headers["Authorization"] = f"Bearer {self._server.key.get_secret_value()}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = None if body is None else orjson.dumps(body)
        try:
            async with self._free:
                answer = await self._http.request(
                    method, f"{self._root}/api/v1{path}", headers=headers, body=content, timeout_seconds=self._seconds
                )
        except (TooManyRedirects, BadUrl):  # wherever it leads to
            raise self._strange("a redirect, which is not followed") from None
        except TooLarge:
            raise self._too_large() from None
        except UpstreamFailed as error:
            raise FlowiseUnreachable(
                f"The Flowise server '{self._server.id}' cannot be used: {error.detail}",
                remedy=f"Check that Flowise is running at {self._root}.",
            ) from None
        if len(answer.content) > limit or answer.content.count(b"{") + answer.content.count(b"[") > MOST_PARTS:
            raise self._too_large()
        holds_flow = path.startswith("/chatflows") and answer.status < 400
        return answer if holds_flow else self._without_key(answer)  # a flow is written back as it was read

    def _without_key(self, answer: HttpAnswer) -> HttpAnswer:
        """Remove the server's own key from its responses."""
        key = self._server.key.get_secret_value().encode()
        if len(key) < SHORTEST_KEY or key not in answer.content:
            return answer
        return replace(answer, content=answer.content.replace(key, b"[key]"))

    def _refusal(self, answer: HttpAnswer, flow: str | None, *, quiet: bool) -> Exception:
        message = "" if quiet else _words(answer)
        if answer.status in {401, 403}:
            which = "rejected the API key" if answer.status == 401 else "does not permit this with its API key"
            return KeyRefused(
                f"The Flowise server '{self._server.id}' {which}.",
                remedy=(
                    "Create a key in Flowise with the permissions for chatflows, agentflows, "
                    "credentials and templates, and store it for this server."
                ),
            )
        if flow is not None and (answer.status == 404 or _is_missing(message, flow)):
            return ChatflowNotFound(flow)
        return FlowiseFailed(
            f"The Flowise server '{self._server.id}' answered {answer.status}"
            + (f' and says: "{message}"' if message else "."),
        )

    def _chatflow(self, answer: Any, asked: str = "") -> Chatflow:  # noqa: ANN401 - JSON of a server
        made = chatflow_of(answer) if isinstance(answer, dict) else None
        if made is None or (asked and made.id.casefold() != asked.casefold()):
            raise self._strange(f"{'another' if made is not None else 'no'} chatflow instead of the requested one")
        return made

    def _listed(self, rows: Any, what: str) -> list[Any]:  # noqa: ANN401 - JSON of a server
        if not isinstance(rows, list):
            raise self._strange(f"no list of {what}")
        return rows

    def _strange(self, what: str) -> FlowiseFailed:
        return FlowiseFailed(
            f"The server '{self._server.id}' returned {what}.",
            remedy=f"Check that {self._root} is the URL of Flowise 3, without a path.",
        )

    def _too_large(self) -> AnswerTooLarge:
        return AnswerTooLarge(f"The response of the server '{self._server.id}' is too large.")


def _path(base: str, identity: str) -> str:
    if not CHATFLOW_ID.fullmatch(identity):
        raise ChatflowNotFound(identity)
    return f"{base}/{identity}"


def _words(answer: HttpAnswer) -> str:
    """Return the server's error message, truncated; empty when there is no readable one."""
    try:
        body = orjson.loads(answer.content[:SMALL_BYTES])
    except orjson.JSONDecodeError:
        return ""
    message = (body.get("message") or body.get("error")) if isinstance(body, dict) else None
    return quoted(message)


def _is_missing(message: str, flow: str) -> bool:
    """Whether a response means "not found": 400 for an invalid UUID, 500 for deleting a missing row."""
    return "Invalid Chatflow ID" in message or ("not found in the database" in message and flow[:64] in message)
