"""Where the 20 tasks run: the real application with local servers for mail, chat, web, APIs, databases and models."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from email.message import EmailMessage
from typing import Any

import httpx2
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy import update
from sqlalchemy.engine import make_url

from headgate.entrypoints.http.app import create_app
from headgate.features.runs.transitions import clock
from headgate.features.triggers import scheduler
from headgate.features.triggers.polling import folders
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.agents.assistant.scenarios.model import is_classification, read_by, tool_names
from tests.support.forwarder import forwarded
from tests.support.imap_process import PASSWORD, USER, ImapProcess
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import Asked, Script
from tests.support.smtp import Postbox, smtp_server
from tests.support.web_server import WebServer, answer, web_server

API = "/api/v1"
PLACE = "https://example.org"
"""The address in templates and requests that stands for the local web server."""
PATIENCE = 60.0


class World:
    """The application and the servers that flows of the tasks reach."""

    def __init__(  # noqa: PLR0917
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer, postbox: Postbox, web: WebServer, uri: str
    ) -> None:
        self.app = app
        self.client = client
        self.openai = openai
        self.postbox = postbox
        self.web = web
        self.uri = uri
        self.mailbox: ImapProcess | None = None
        self.answers: Callable[[str, Asked], str | Script] = lambda _text, _asked: "nothing was expected"
        """The answer of the model of a step to a prompt."""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """Calls of the assistant's model, in order; then it says that it is done."""
        self.results: list[str] = []
        """What the tools answered to the assistant's model, oldest first."""
        openai.sort = self._sort

    def _sort(self, asked: Asked) -> Script:
        if is_classification(asked):
            return self.openai.structured({"translation": "", "intent": "build_flow"})
        if "search_components" in tool_names(asked):
            messages = asked.body["messages"]
            self.results = [str(one["content"]) for one in messages if one["role"] == "tool"]
            if not self.calls:
                return self.openai.text("Done.")
            name, arguments = self.calls.pop(0)
            return self.openai.tool_call(name, arguments)
        found = self.answers(read_by(asked), asked)
        return self.openai.text(found) if isinstance(found, str) else found

    async def call(self, method: str, path: str, **more: Any) -> Any:
        """What the API answers, which is no refusal."""
        found = await self.client.request(method, f"{API}{path}", **more)
        assert found.is_success, found.text
        return found.json() if found.content else None

    async def connect(self) -> None:
        """Add the connections that the templates name, and the model of steps."""
        for name, value in (("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", self.openai.base_url)):
            await self.call("PUT", f"/variables/{name}", json={"value": value})
        for role in ("step", "assistant"):
            await self.call("PUT", f"/model-roles/{role}", json={"models": [{"model": "openai/gpt-5-mini"}]})
        await self._add("office-mail", "smtp", self.postbox.fields, password="smtp-password")
        address = f"{self.web.url('/chat').replace('http://', 'json://')}"
        await self._add("team-chat", "notification", {"hosts": [self.web.origin]}, address=address)
        for name in ("company-api", "github"):
            await self._add(name, "bearer", {"url": self.web.origin}, token="token-of-a-test")
        parts = make_url(self.uri)
        self.web.on("/chat", answer(200, "{}"))
        self.sql_parts = parts

    async def _add(self, name: str, kind: str, fields: dict[str, Any], **secrets: str) -> None:
        await self.call("POST", "/connections", json={"name": name, "kind": kind, "fields": fields, "secrets": secrets})

    @contextmanager
    def database(self) -> Iterator[int]:
        """The port at which the database of the shop listens."""
        query = self.sql_parts.query
        with forwarded(f"{query['host']}/.s.PGSQL.{query.get('port', 5432)}") as port:
            yield port

    async def connect_database(self, port: int) -> None:
        """Add the connection to the database of the shop."""
        fields = {"dialect": "postgresql", "host": "127.0.0.1", "port": port, "tls": "off"}
        fields |= {"database": str(self.sql_parts.database), "user": str(self.sql_parts.username)}
        await self._add("shop-database", "sql", fields, password="not checked here")

    async def connect_mailbox(self) -> None:
        """Start a mail server and add the connection to its mailbox."""
        self.mailbox = ImapProcess()
        fields = {"host": "127.0.0.1", "port": self.mailbox.port, "security": "none", "user": USER}
        await self._add("office-inbox", "imap", fields, password=PASSWORD)

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement on the database of the shop; the rows of a query."""
        uri = self.sql_parts.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(uri) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def deliver(self, subject: str, text: str, *, file: tuple[str, bytes] | None = None) -> None:
        """Deliver a mail to the mailbox of the office."""
        message = EmailMessage()
        message["From"], message["To"] = "Bo Lind <bo@example.com>", "office@example.org"
        message["Subject"], message["Message-ID"] = subject, "<question@example.com>"
        message.set_content(text)
        if file is not None:
            kind, _, subtype = ("application/pdf" if file[0].endswith(".pdf") else "text/plain").partition("/")
            message.add_attachment(file[1], maintype=kind, subtype=subtype, filename=file[0])
        assert self.mailbox is not None
        self.mailbox.add(message)

    def mail(self, number: int = -1) -> tuple[str, str, str, list[str]]:
        """Recipients, subject, text and names of the files of a mail that was sent."""
        message = self.postbox.message(number)
        body = message.get_body(("plain",))
        assert body is not None
        names = [str(part.get_filename()) for part in message.iter_attachments()]
        return ", ".join(self.postbox.received[number].rcpt_tos), str(message["Subject"]), body.get_content(), names

    def posted(self, path: str) -> list[Any]:
        """JSON that a path of the web server has received."""
        return [json.loads(request.body) for request in self.web.seen(path)]

    async def polled(self, trigger: dict[str, Any]) -> None:
        """Let a trigger look at its source."""
        at = (await self.call("GET", f"/triggers/{trigger['id']}"))["polled_at"]
        async with self.app.state.database.writing() as session:
            change = update(TriggerRow).where(TriggerRow.id == trigger["id"])
            await session.execute(change.values(due_at=clock(), next_at=clock()))

        async def looked() -> bool:
            shown = await self.call("GET", f"/triggers/{trigger['id']}")
            assert not shown["poll_error"], shown["poll_error"]
            return shown["polled_at"] not in {None, at}

        await self.until(looked)

    async def run_of(self, trigger: dict[str, Any]) -> dict[str, Any]:
        """The only run that a trigger has started, once it has ended or waits for approval."""

        async def started() -> Any:
            rows = (await self.call("GET", f"/triggers/{trigger['id']}/occurrences"))["items"]
            assert all(row["status"] in {"started", "queued"} for row in rows), rows
            return next((row["run_id"] for row in rows if row["run_id"]), None)

        return await self.over(await self.until(started))

    async def over(self, run_id: str) -> dict[str, Any]:
        """A run that has ended or waits for approval."""

        async def ended() -> Any:
            run = await self.call("GET", f"/flow-runs/{run_id}")
            waits = any(step["waiting"] and step["waiting"]["reason"] != "approval" for step in run["steps"])
            return run if run["status"] not in {"queued", "running"} and not waits else None

        run: dict[str, Any] = await self.until(ended)
        return run

    async def until(self, check: Callable[[], Any]) -> Any:
        """What a check returns as soon as it is true."""
        async with asyncio.timeout(PATIENCE):
            while True:
                if value := await check():
                    return value
                await asyncio.sleep(0.05)

    def here(self, text: str) -> str:
        """A text with the address of the local web server."""
        return text.replace(PLACE, self.web.origin)


@asynccontextmanager
async def opened(settings: Settings, uri: str) -> AsyncIterator[World]:
    """The application with auto-login and the servers, all on loopback; `uri` is the empty database of the shop."""
    app = create_app(settings.model_copy(update={"http": LOOPBACK, "rate_limits": RateLimitSettings(enabled=False)}))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    with pytest.MonkeyPatch.context() as patch, smtp_server() as postbox, OpenAIServer() as openai:
        patch.setattr(scheduler, "POLL_SECONDS", 0.1)
        patch.setattr(folders, "SETTLE_SECONDS", 0)
        async with (
            web_server() as web,
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as client,
        ):
            world = World(app, client, openai, postbox, web, uri)
            try:
                yield world
            finally:
                if world.mailbox is not None:
                    world.mailbox.close()
