"""What a run of the whole product does: each component, provider and outgoing client of it, over its own API."""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from sqlalchemy.engine import make_url

from headgate.components import BUILTINS
from headgate.components.files.workbooks import NamedTable, workbook
from headgate.entrypoints.own_services import OwnRedis
from headgate.features.models.providers import PROVIDERS, is_installed
from headgate.sdk import Table
from tests.support import git_server, imap_process
from tests.support.api_documents import ISSUES
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.own_code import component
from tests.support.s3_server import S3Server
from tests.support.scripted_server import ScriptedServer
from tests.unit.components.readers.test_archive import zipped
from tests.unit.components.readers.test_image import picture

EXAMPLES = tuple(sorted(one.__name__ for one in BUILTINS))
"""Each component has a flow that shows it."""
CALLED = {
    "Check an address": "Checked",
    "Handle an order": "Handled",
    "Improve and score a text": '{"score": 9}',
}
"""Published flows that the examples run, and the text that each returns."""
FORM = {
    "email": "bo@example.org",
    "title": "Broken",
    "urgent": "yes",
    "applicant": "Ann",
    "amount": 3,
    "net": 8,
    "name": "Ann",
    "project": "sea",
}
UPLOADS = {
    "Transcribe": "r.wav", "TableQuery": "r.csv", "ReadSpreadsheet": "r.xlsx", "ExtractArchive": "r.zip",
    "ConvertImage": "r.png", "ReadCalendar": "r.ics",
}  # fmt: skip
EXCHANGE = "exchange"
REPOSITORY = "acme/manual"
"""Bucket of a connection."""
FEED = "<rss><channel><title>News</title><item><title>One</title></item></channel></rss>"
SITEMAP = "<urlset><url><loc>https://example.org/a</loc></url></urlset>"
CONTENTS = {
    "r.xlsx": workbook([NamedTable("Hours", Table(columns=["project", "hours"], rows=[["A", 3]]))], ".xlsx"),
    "r.zip": zipped({"r.csv": b"a\n1\n"}),
    "r.png": picture(),
    "r.ics": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20270202T090000Z\nSUMMARY:x\nEND:VEVENT\nEND:VCALENDAR\n",
    "r.txt": b"Some words.",
    "r.csv": b"region,amount\nSouth,3\n",
    "r.wav": b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0",
}


@dataclass(frozen=True)
class Places:
    """The servers on loopback."""

    others: Mapping[str, ScriptedServer]
    openai: OpenAIServer
    traces: OtlpReceiver
    storage: S3Server
    mcp: McpProcess
    redis: OwnRedis
    postgres: str
    port: int
    services: Mapping[str, int]
    """Ports of the mail, database, message and Git servers, by kind of connection."""

    @property
    def servers(self) -> Mapping[str, ScriptedServer]:
        """Those that count what they were asked."""
        return {**self.others, "openai": self.openai}

    def origin(self, name: str) -> str:
        """The address of one."""
        return self.servers[name].origin


def visit(client: httpx2.Client, places: Places, run: Callable[..., str]) -> dict[str, Any]:
    """Use all of the product; what came of each part, by name."""
    outcome: dict[str, Any] = {}
    for name, text in CALLED.items():
        _publish(client, name, text)
    outcome["mcp"] = _mcp(client, places)
    _connect(client, places)
    outcome["components"] = {name: _example(client, places, name) for name in EXAMPLES}
    outcome["providers"] = {
        name: client.post(f"/providers/{name}/test", json={"model": "m"}).status_code
        for name in PROVIDERS
        if is_installed(PROVIDERS[name])
    }
    outcome["topic"] = _topic(client)
    outcome["own_code"] = _own_code(client, places)
    outcome["assistant"] = client.post(
        "/agentic/assist",
        json={"input_value": "What does a Merge do?", "provider": "openai", "model_name": "gpt-5-mini"},
    ).status_code
    outcome["development"] = _development(client, places)
    outcome["flowise"] = client.post("/codev/instances/town/test").status_code
    outcome["sign_in"] = _sign_in(client)
    outcome["doctor"] = run("doctor")
    return outcome


def _connect(client: httpx2.Client, places: Places) -> None:
    """Add the connections that the examples name."""
    local = {"host": "127.0.0.1"}
    database = make_url(places.postgres)
    git = f"http://127.0.0.1:{places.services['git']}"
    kinds: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
        "smtp": (local | {"port": places.services["smtp"], "security": "none", "sender": "a@example.org"}, {}),
        "imap": (
            local | {"port": places.services["imap"], "security": "none", "user": imap_process.USER},
            {"password": imap_process.PASSWORD},
        ),
        "sql": (
            local
            | {"port": places.services["sql"], "dialect": "postgresql", "tls": "off"}
            | {"database": "postgres", "user": str(database.username)},
            {"password": "not needed here"},
        ),
        "storage": (
            {"url": places.storage.address, "bucket": EXCHANGE, "access_key": "key"},
            {"secret_key": "secret"},
        ),
        "git": (
            {"url": git, "service": "gitea", "api_url": f"{git}/api/gitea"},
            {"token": git_server.TOKEN},
        ),
        "kafka": (local | {"port": places.services["kafka"], "tls": "off"}, {}),
        "notification": (
            {"hosts": [places.origin("web")]},
            {"address": places.origin("web").replace("http://", "json://")},
        ),
    }
    for kind, (fields, secrets) in kinds.items():
        of_kind = "s3" if kind == "storage" else kind
        body = {"name": f"example-{kind}", "kind": of_kind, "fields": fields, "secrets": secrets}
        client.post("/connections", json=body).raise_for_status()
    tracker = {"name": "tracker", "kind": "public_api", "fields": {"url": places.origin("web")}, "secrets": {}}
    client.post("/connections", json=tracker).raise_for_status()
    client.put("/connections/tracker/api", json={"content": json.dumps(ISSUES)}).raise_for_status()


def leak(client: httpx2.Client) -> dict[str, Any]:
    """Run the component that steps around the guards."""
    nodes = [
        {"id": "it", "type": "Leak", "policy": {"input_source": "flow_input"}},
        {"id": "out", "type": "ChatOutput"},
    ]
    edges = [{"source": "it", "output": "text", "target": "out", "input": "input"}]
    return {"leak": _run(client, {"definition": {"name": "Leak", "nodes": nodes, "edges": edges}})}


def _example(client: httpx2.Client, places: Places, name: str) -> str:
    text = (files("headgate.components.examples") / f"{name}.flow").read_text(encoding="utf-8")
    text = re.sub(r"https://(api\.)?example\.(org|com)", places.origin("web"), text)
    text = re.sub(r"repository: acme/\w+", f"repository: {REPOSITORY}", text)
    return _run(client, {"spec": text}, upload=UPLOADS.get(name, "r.txt"))


def _run(client: httpx2.Client, flow: Mapping[str, Any], upload: str = "r.txt") -> str:
    """Create and run a flow with whatever its form and file inputs ask for; how it ended."""
    made = client.post("/flows", json=flow)
    if not made.is_success:
        return made.text
    flow_id, definition = made.json()["id"], json.dumps(made.json())
    fields = {one["id"] for one in made.json()["definition"].get("form") or ()}
    if '"code"' in definition:
        client.post(f"/flows/{flow_id}/components/check").raise_for_status()
    answers = {name: value for name, value in FORM.items() if name in fields}
    body: dict[str, Any] = {"text": "Lund is nice", "form_data": answers}
    if '"FileInput"' in definition:
        body["file_ids"] = [client.post("/files", files={"file": (upload, CONTENTS[upload])}).json()["id"]]
        if "report" in fields:
            body["form_data"] = {"report": body["file_ids"][0]}
    if '"WaitForState"' in definition:
        client.put(f"/flows/{flow_id}/state/stock", params={"draft": True}, json={"value": {"counted": True}})
    if '"base"' in definition:
        client.post("/knowledge-bases", json={"name": "Handbook"})
    waits = any(f'"{kind}"' in definition for kind in ("Approval", "WaitForEvent"))
    done = client.post(f"/flows/{flow_id}/runs", json=body | {"wait": not waits})
    if done.is_success and not done.json()["finished_at"]:
        done = _answered(client, done.json()["id"])
    return done.json()["status"] if done.is_success and done.json()["status"] == "completed" else done.text


def _answered(client: httpx2.Client, run_id: str) -> httpx2.Response:
    """Approve what the run asks for, and send the events that it waits for; the run when it is over."""
    while True:
        for step in client.get("/events/waiting").json()["items"]:
            event = {"name": step["name"], "correlation": step["correlation"], "data": "paid"}
            client.post("/events", json=event).raise_for_status()
        for waiting in client.get("/approvals", params={"run_id": run_id, "status": "pending"}).json()["items"]:
            client.post(f"/approvals/{waiting['id']}/decision", json={"decision": "approve"}).raise_for_status()
        run = client.get(f"/flow-runs/{run_id}")
        if not run.is_success or run.json()["finished_at"]:
            return run
        time.sleep(0.1)


def _publish(client: httpx2.Client, name: str, text: str) -> str:
    """Publish a flow that returns this text; its id."""
    spec = f"""name: {name}
nodes:
  made: TextInput
    text: '{text}'
  out: ChatOutput
edges:
  made.text -> out.input
form:
  country: text
"""
    made = client.post("/flows", json={"spec": spec}).raise_for_status()
    client.post(f"/flows/{made.json()['id']}/publish", json={}).raise_for_status()
    return str(made.json()["id"])


def _topic(client: httpx2.Client) -> list[str]:
    """What the next poll of a trigger would start."""
    config = {"kind": "topic", "connection": "example-kafka", "topic": "orders", "first": "all", "text_from": "body"}
    body = {"name": "Orders", "config": config}
    made = client.post(f"/flows/{_publish(client, 'Orders', 'x')}/triggers", json=body).raise_for_status()
    dry = client.post(f"/triggers/{made.json()['id']}/dry-run").raise_for_status()
    return [item["text"] for item in dry.json()["items"]]


def _mcp(client: httpx2.Client, places: Places) -> int:
    client.post("/mcp-servers", json={"name": "weather", "url": places.mcp.url}).raise_for_status()
    return client.post("/mcp-servers/weather/refresh").status_code


def _own_code(client: httpx2.Client, places: Places) -> str:
    web = places.origin("web")
    code = component(
        f"hosts: ClassVar = ('{web.removeprefix('http://')}',)\n@output()\nasync def said(self) -> Text:\n"
        f"    return (await self.ctx.http.request('GET', '{web}/own')).text",
        "from typing import ClassVar\n",
    )
    nodes = [{"id": "own", "type": "Sample", "code": code}, {"id": "out", "type": "ChatOutput"}]
    edges = [{"source": "own", "output": "said", "target": "out", "input": "input"}]
    return _run(client, {"definition": {"name": "Own", "nodes": nodes, "edges": edges}})


def _development(client: httpx2.Client, places: Places) -> int:
    """A session, which asks its model and calls its webhook."""
    return client.post(
        "/codev/sessions",
        json={
            "requirement": "Greet whoever writes",
            "model": "openai/gpt-5-mini",
            "webhook_url": f"{places.origin('web')}/session",
        },
    ).status_code


def _sign_in(client: httpx2.Client) -> list[int]:
    """To the provider and back, with a code that it does not redeem."""
    begun = client.get("/sign-in/oidc", params={"next": "/"})
    query = parse_qs(urlsplit(begun.headers.get("location", "")).query)
    back = client.get("/sign-in/oidc/callback", params={"state": query.get("state", [""])[0], "code": "x"})
    return [begun.status_code, back.status_code]
