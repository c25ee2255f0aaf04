"""The same requests, in the same order, to any server that claims to be a Flowise; and what was seen, to be compared.

Only shapes are compared: status, kind of content, members and their types. Of what differs from one server to the next
(identities, dates, sealed values) only that it is there and of its type.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

RECORDED = Path(__file__).parents[1] / "data" / "flowise"
MISSING = "00000000-0000-4000-8000-000000000000"
NODES = (
    "bufferMemory", "calculator", "chatOpenAI", "conversationChain", "customFunction", "ifElseFunction", "llmChain",
    "promptTemplate", "setVariable", "startAgentflow",
)  # fmt: skip

Seen = dict[str, "Exchange"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one request was answered with."""

    status: int
    media: str
    """`json`, `html`, `text`."""
    answer: Any


@dataclass(slots=True)
class Player:
    """Sends the requests to a server and keeps what it answered."""

    client: httpx2.Client
    seen: Seen = field(default_factory=dict)

    def ask(self, name: str, method: str, path: str, *, body: Any = None, keyed: bool = True) -> Any:
        """One request; its answer."""
        request = self.client.build_request(method, f"/api/v1{path}", json=body)
        if not keyed:
            del request.headers["authorization"]
        reply = self.client.send(request)
        kind = reply.headers.get("content-type", "").split(";")[0].rpartition("/")[2]
        media = {"json": "json", "html": "html"}.get(kind, "text")
        answer = reply.json() if media == "json" else reply.text
        self.seen[name] = Exchange(reply.status_code, media, answer)
        return answer


def recorded(name: str) -> dict[str, Any]:
    """A recording: `request`, `status`, `response`."""
    found: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text())
    return found


def play(client: httpx2.Client) -> Seen:
    """All of them, on a server that holds nothing yet of what they make."""
    player = Player(client)
    _about(player)
    _components(player)
    flow = _flows(player)
    _predictions(player, flow)
    _ends(player, flow)
    _credentials(player)
    _ghost(player)
    return player.seen


def _about(player: Player) -> None:
    player.ask("ping", "GET", "/ping", keyed=False)
    player.ask("version", "GET", "/version", keyed=False)
    player.ask("no_auth", "GET", "/nodes", keyed=False)
    player.ask("unknown_route", "GET", "/credentials-schema/openAIApi")


def _components(player: Player) -> None:
    for node in NODES:
        player.ask(f"node_{node}", "GET", f"/nodes/{node}")
    player.ask("node_not_found", "GET", "/nodes/nope")
    player.ask("nodes_list", "GET", "/nodes")
    player.ask("marketplace_templates", "GET", "/marketplaces/templates")
    body = {"name": "chatOpenAI", "loadMethod": "listModels"}
    player.ask("load_method_listModels", "POST", "/node-load-method/chatOpenAI", body=body)
    player.ask("components_credentials_list", "GET", "/components-credentials")
    player.ask("components_credentials_openAIApi", "GET", "/components-credentials/openAIApi")


def _flows(player: Player) -> str:
    made = player.ask("chatflow_create", "POST", "/chatflows", body=recorded("chatflow_create")["request"]["body"])
    flow = str(made["id"])
    player.ask(
        "chatflow_create_badtype", "POST", "/chatflows", body={"name": "x", "flowData": '{"nodes":[],"edges":[]}'}
    )
    player.ask("chatflow_get", "GET", f"/chatflows/{flow}")
    player.ask("chatflows_list", "GET", "/chatflows")
    player.ask("chatflows_list_paged", "GET", "/chatflows?page=1&limit=1")
    player.ask("chatflow_400", "GET", "/chatflows/nope")
    player.ask("chatflow_404", "GET", f"/chatflows/{MISSING}")
    player.ask("chatflow_put", "PUT", f"/chatflows/{flow}", body={"name": "rec2"})
    player.ask("put_missing", "PUT", f"/chatflows/{MISSING}", body={"name": "y"})
    player.ask("put_not_json", "PUT", f"/chatflows/{flow}", body={"flowData": "not json"})
    player.ask("put_bad_type", "PUT", f"/chatflows/{flow}", body={"type": "BOGUS"})
    player.ask("validation", "GET", f"/validation/{flow}")
    return flow


def _predictions(player: Player, flow: str) -> None:
    body = {"question": "abc", "overrideConfig": {"sessionId": "S9"}}
    player.ask("prediction", "POST", f"/prediction/{flow}", body=body, keyed=False)
    player.ask("prediction_keyed", "POST", f"/prediction/{flow}", body=body)
    player.ask("upsert_no_vectorstore", "POST", f"/vector/upsert/{flow}", body={}, keyed=False)


def _ends(player: Player, flow: str) -> None:
    player.ask("chatflow_delete", "DELETE", f"/chatflows/{flow}")
    player.ask("chatflow_delete_again", "DELETE", f"/chatflows/{flow}")
    player.ask("delete_not_uuid", "DELETE", "/chatflows/abc")
    player.ask("prediction_404", "POST", f"/prediction/{flow}", body={"question": "x"}, keyed=False)


def _credentials(player: Player) -> None:
    body = {"name": "tmp", "credentialName": "openAIApi", "plainDataObj": {"openAIApiKey": "sk-fake"}}
    made = str(player.ask("credential_create", "POST", "/credentials", body=body)["id"])
    player.ask("credentials_list", "GET", "/credentials")
    player.ask("credential_get", "GET", f"/credentials/{made}")
    player.ask("credential_put", "PUT", f"/credentials/{made}", body={**body, "name": "tmp2"})
    player.ask("credential_delete", "DELETE", f"/credentials/{made}")


def _ghost(player: Player) -> None:
    """A flow without edges: the answer is an error, and there it is."""
    name = "a ghost"
    body = {"name": name, "type": "CHATFLOW", "flowData": '{"nodes":[]}'}
    player.ask("ghost_create", "POST", "/chatflows", body=body)
    found = [flow for flow in player.ask("ghost_list", "GET", "/chatflows") if flow["name"] == name]
    player.seen["ghosts"] = Exchange(200, "json", len(found))
    for flow in found:
        player.ask("ghost_delete", "DELETE", f"/chatflows/{flow['id']}")


def recordings() -> Seen:
    """What was recorded, as if it had been played. Flowise calls everything HTML that is not JSON."""
    return {
        path.stem: Exchange(
            found["status"], "html" if isinstance(found["response"], str) else "json", found["response"]
        )
        for path in sorted(RECORDED.glob("*.json"))
        if isinstance(found := json.loads(path.read_text()), dict) and "request" in found
    }
