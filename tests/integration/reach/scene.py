"""The whole product at work, with everything it may connect to on loopback: `python -m tests.integration.reach.scene`.

Standard input gives `form` (`serve` or `up`), `folder`, `alone` (whether to move to a network of its own) and `leak`.
The answer is a JSON report on the last line of standard output.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from sqlalchemy.engine import make_url

from headgate.entrypoints.own_services import OwnRedis
from tests.integration.reach import namespace
from tests.integration.reach.visits import EXCHANGE, FEED, REPOSITORY, SITEMAP, Places, leak, visit
from tests.support.anthropic_server import AnthropicServer
from tests.support.databases import Postgres
from tests.support.embedding_server import Embeddings
from tests.support.forwarder import forwarded
from tests.support.git_server import git_server
from tests.support.imap_process import ImapProcess
from tests.support.kafka_broker import batch, broker
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.s3_server import s3_server
from tests.support.scripted_server import Asked, Reply, Script, ScriptedServer, json_reply

TOP = Path(__file__).parents[3]
WATCH = Path(__file__).parent / "watch"
HEADGATE = str(Path(sys.executable).with_name("headgate"))
BUCKET = "files"
REDIS = ("BROKER", "RESULT", "EVENTS")


@dataclass
class Scene:
    """What is asked of one run, and what it reports."""

    form: str
    folder: Path
    alone: bool
    leak: str
    record: Path = field(init=False)

    def __post_init__(self) -> None:
        self.record = self.folder / "connections.jsonl"
        self.record.touch()

    def environment(self, places: Places) -> dict[str, str]:
        """Every way out is configured, and leads to loopback."""
        origin = places.origin
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HEADGATE_", "OPENAI", "LANG"))}
        flowise = [{"id": "town", "endpoint": origin("flowise"), "api_key": "flowise-key-0123456789"}]
        servers = {
            "OPENAI_BASE_URL": places.openai.base_url,
            "OPENAI_COMPATIBLE_BASE_URL": origin("openai_compatible"),
            "ANTHROPIC_BASE_URL": origin("anthropic"),
            "GOOGLE_GEMINI_BASE_URL": origin("google"),
            "GROQ_BASE_URL": origin("groq"),
            "OLLAMA_BASE_URL": origin("ollama"),
            "LANGSMITH_ENDPOINT": origin("langsmith"),
        }
        names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "LANGSMITH_API_KEY")
        watched = {
            "PYTHONPATH": os.pathsep.join((str(WATCH), str(TOP))),
            "WATCH_RECORD": str(self.record),
            "WATCH_LOOP": "uvloop" if self.alone else "asyncio",
            "WATCH_LEAK": self.leak,
            "WATCH_LEAK_TO": origin("web").removeprefix("http://"),
        }
        return kept | servers | dict.fromkeys(names, "key-0123456789abcdef") | watched | {
            "HEADGATE_DATA_DIR": str(self.folder / "data"),
            "HEADGATE_LOG__LEVEL": "warning",
            "HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS": '["127.0.0.0/8"]',
            "HEADGATE_SANDBOX__HOSTS": json.dumps([origin("web").removeprefix("http://")]),
            "HEADGATE_TELEMETRY__OTLP_ENDPOINT": places.traces.endpoint,
            "HEADGATE_STORAGE__KIND": "s3",
            "HEADGATE_STORAGE__BUCKET": BUCKET,
            "HEADGATE_STORAGE__ENDPOINT_URL": places.storage.address,
            "HEADGATE_STORAGE__ACCESS_KEY_ID": "key",
            "HEADGATE_STORAGE__SECRET_ACCESS_KEY": "secret",
            "HEADGATE_CODEV__FLOWISE_INSTANCES": json.dumps(flowise),
            "HEADGATE_CODEV__LANGSMITH": "true",
        } | (self._distributed(places) if self.form == "up" else self._signed_in(places))  # fmt: skip

    @staticmethod
    def _distributed(places: Places) -> dict[str, str]:
        urls = {f"HEADGATE_CELERY__{name}_URL": places.redis.url(number) for number, name in enumerate(REDIS)}
        return urls | {"HEADGATE_ENGINE__BACKEND": "celery", "HEADGATE_DATABASE__URL": places.postgres}

    @staticmethod
    def _signed_in(places: Places) -> dict[str, str]:
        return {
            "HEADGATE_SERVER__AUTO_LOGIN": "false",
            "HEADGATE_SERVER__PUBLIC_URL": f"http://127.0.0.1:{places.port}",
            "HEADGATE_SINGLE_SIGN_ON__ISSUER": places.origin("provider"),
            "HEADGATE_SINGLE_SIGN_ON__CLIENT_ID": "headgate",
        }


@contextmanager
def opened_places(folder: Path) -> Iterator[Places]:
    """Every server that the product may connect to."""
    with ExitStack() as stack:
        others: dict[str, ScriptedServer] = {"anthropic": stack.enter_context(AnthropicServer())}
        others["anthropic"].script(AnthropicServer().text("Hello."))
        for name in ("web", "openai_compatible", "google", "groq", "ollama", "flowise", "langsmith"):
            others[name] = stack.enter_context(ScriptedServer()).script(json_reply({"id": "T-1", "version": "3.1.4"}))
        others["web"].sort = _web
        openai = stack.enter_context(OpenAIServer())
        openai.sort = partial(_answer, openai)
        others["provider"] = stack.enter_context(ScriptedServer())
        issuer = others["provider"].origin
        others["provider"].script(
            json_reply(
                {
                    "issuer": issuer,
                    "authorization_endpoint": f"{issuer}/authorize",
                    "token_endpoint": f"{issuer}/token",
                    "jwks_uri": f"{issuer}/keys",
                }
            )
        )
        traces = stack.enter_context(OtlpReceiver())
        storage = stack.enter_context(s3_server())
        storage.client.create_bucket(Bucket=BUCKET)
        storage.client.create_bucket(Bucket=EXCHANGE)
        storage.client.put_object(Bucket=EXCHANGE, Key="inbox/Lund is nice", Body=b"A file")
        mcp = stack.enter_context(McpProcess(folder / "tally"))
        redis = OwnRedis(folder / "redis", durable=False)
        redis.start()
        stack.callback(redis.stop)
        postgres = Postgres(folder / "postgres", "reach")
        stack.callback(postgres.close)
        database = stack.enter_context(postgres.fresh())
        services = opened_services(stack, postgres, folder)
        yield Places(
            redis=redis,
            postgres=database,
            others=others,
            openai=openai,
            traces=traces,
            storage=storage,
            mcp=mcp,
            port=free_port(),
            services=services,
        )


def opened_services(stack: ExitStack, postgres: Postgres, folder: Path) -> dict[str, int]:
    """The ports of mail, database, message and Git servers, which the connections of the examples lead to."""
    postgres.sql(
        "CREATE TABLE orders (id integer, placed date, total numeric, customer text)",
        "CREATE TABLE contacts (email text PRIMARY KEY, name text)",
    )
    socket_of = make_url(postgres.url("postgres"))
    sockets, number = str(socket_of.query["host"]), str(socket_of.query.get("port", 5432))
    inbox = ImapProcess()
    stack.callback(inbox.close)
    mail = Controller(Sink(), hostname="127.0.0.1", port=free_port())
    mail.start()
    stack.callback(mail.stop)
    sql = stack.enter_context(forwarded(f"{sockets}/.s.PGSQL.{number}"))
    git = stack.enter_context(git_server("new", folder / "git", REPOSITORY))
    git.commit({"docs/index.md": b"# Manual"})
    git.git("tag", "v1.2.0", "main")
    git.commit({"docs/index.md": b"# The manual"})
    kafka = stack.enter_context(broker(content=batch(0, b"one"), end=1))
    return {"smtp": mail.port, "imap": inbox.port, "sql": sql, "git": make_url(git.url).port or 0, "kafka": kafka.port}


def _web(asked: Asked) -> Script | None:
    """What a website answers for its feed, its sitemap and its API."""
    if asked.path.startswith("/orders?"):
        return lambda _: json_reply({"data": [{"id": 1}], "meta": {"next_cursor": None}})
    if asked.path.startswith("/projects/"):
        return lambda _: json_reply({"items": []})
    content = {"/feed.xml": FEED, "/sitemap.xml": SITEMAP}.get(asked.path)
    reply = None if content is None else Reply((content.encode(),), media_type="application/xml")
    return None if reply is None else lambda _: reply


def _answer(openai: OpenAIServer, asked: Asked) -> Script:
    """What a model says that uses the tool of the MCP server, and keeps to the schema of the example."""
    if vectors := Embeddings().answer(asked):
        return vectors
    written = json.dumps(asked.body) if isinstance(asked.body, dict) else ""
    if "weather__forecast" in written and '"role": "tool"' not in written:
        return openai.tool_call("weather__forecast", {"city": "Lund"})
    if '"confidence"' in written:
        return openai.structured({"label": "refund", "confidence": 0.9})
    return openai.structured({"supplier": "Ann", "total": 3, "due": "today"})


@contextmanager
def running(scene: Scene, places: Places) -> Iterator[httpx2.Client]:
    """A client of the product, which is up."""
    more = ["--concurrency", "1"] if scene.form == "up" else []
    command = [HEADGATE, scene.form, "--port", str(places.port), *more]
    log = scene.folder / "product.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=scene.environment(places), stdout=output, stderr=output, cwd=TOP)
    address = f"http://127.0.0.1:{places.port}"
    try:
        with httpx2.Client(base_url=f"{address}/api/v1", timeout=PATIENCE_SECONDS, trust_env=False) as client:
            while True:
                with suppress(httpx2.TransportError):
                    if client.get(f"{address}/health").is_success:
                        break
                time.sleep(0.05)
                assert process.poll() is None, log.read_text()[-3000:]
            if scene.form == "serve":
                client.headers["Authorization"] = f"Bearer {sign_in(scene, places)}"
            yield client
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()


def command(scene: Scene, places: Places, *arguments: str, given: str = "") -> str:
    """A command of the product, to its end; what it printed."""
    done = subprocess.run(
        [HEADGATE, *arguments],
        env=scene.environment(places),
        input=given,
        text=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        cwd=TOP,
        check=False,
    )
    return done.stdout + done.stderr


def sign_in(scene: Scene, places: Places) -> str:
    """The key of a first admin."""
    command(
        scene, places, "users", "create", "ann@example.org", "--admin", "--password-stdin", given="correct horse b\n"
    )
    made = command(scene, places, "keys", "create", "all", "--user", "ann@example.org", "--json")
    key: str = json.loads(made)["key"]
    return key


def play(scene: Scene) -> dict[str, Any]:
    """Run the product, use all of it, and report what was seen."""
    if scene.alone:
        namespace.enter()
        device = namespace.route_everything()
    with opened_places(scene.folder) as places:
        capture = namespace.Capture() if scene.alone else None  # from here on, only the product connects
        with running(scene, places) as client:
            run: Callable[..., str] = partial(command, scene, places)
            outcome: Mapping[str, Any] = leak(client) if scene.leak else visit(client, places, run)
        lost = capture.close() if capture else 0
        report = {
            "lost": lost,
            "packets": capture.seen if capture else [],
            "outcome": outcome,
            "asked": {name: len(server.asked) for name, server in places.servers.items()},
            "traces": len(places.traces.spans),
            "stored": len(places.storage.keys(BUCKET)),
            "tools": places.mcp.calls(),
            "own": [places.port, 7411],
            "redis": int(places.redis.url(0).rpartition(":")[2].partition("/")[0]),
            "ports": {name: int(server.origin.rpartition(":")[2]) for name, server in places.servers.items()}
            | {f"service {name}": port for name, port in places.services.items()}
            | {"storage": int(places.storage.address.rpartition(":")[2]), "mcp": places.mcp.port},
            "connections": [json.loads(line) for line in scene.record.read_text().splitlines()],
            "log": (scene.folder / "product.log").read_text()[-5000:],
        }
    if scene.alone:
        os.close(device)
    return report


if __name__ == "__main__":
    wanted = json.load(sys.stdin)
    print(json.dumps(play(Scene(wanted["form"], Path(wanted["folder"]), wanted["alone"], wanted["leak"]))))  # noqa: T201
