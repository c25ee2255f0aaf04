"""Two servers on one PostgreSQL, killed around the starts of triggers' runs: each occurrence starts exactly one run."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.installation import QUIET_SECONDS, Installation, Server
from tests.support.databases import Postgres, make_settings
from tests.support.dying_process import DIES_IN, POINTS
from tests.support.forwarder import forwarded
from tests.support.imap_process import PASSWORD, USER, ImapProcess
from tests.support.properties import THOROUGH

Record = Callable[[str, object], None]
pytestmark = [pytest.mark.postgres, pytest.mark.timeout(240 + QUIET_SECONDS * 4)]
EACH = 3
"""Occurrences of each kind for each point at which a server dies."""
KINDS = ("schedule", "webhook", "mail", "folder", "rows", "form")
DEATHS = tuple(
    tuple((POINTS[(number + at) % len(POINTS)], kind) for number, kind in enumerate(KINDS))
    for at in range(len(POINTS) if THOROUGH else 1)
)
"""Points and kinds at which a server dies, one round after the other; `make test-faults` has all of them."""
FLOW = {
    "name": "Echo",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "said", "type": "ChatOutput"}],
    "edges": [{"source": "heard", "output": "message", "target": "said", "input": "input"}],
}
POLICIES = {"overlap": "allow", "limit": 10_000, "catch_up": "all"}
POLL = {"every_seconds": 3600, "first": "all"}


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


class Servers:
    """Two servers; one that died is started again."""

    def __init__(self, installation: Installation, deaths: Path) -> None:
        installation.module = "tests.support.dying_process"
        self._installation = installation
        self._deaths = deaths
        self.all: list[Server] = []
        self.died = 0

    async def start(self) -> None:
        """Start one more."""
        settings = {DIES_IN: str(self._deaths), "HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS": '["127.0.0.1/32"]'}
        self.all.append(await self._installation.up(**settings))

    async def restart(self) -> None:
        """Start those that died, as long as the task lives."""
        while True:
            for server in [one for one in self.all if not one.alive]:
                self.all.remove(server)
                self.died += 1
                await self.start()
            await asyncio.sleep(0.05)

    async def until_accepted(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """Send a request until a server that lives accepts it."""
        for number in range(10_000):
            with suppress(httpx2.TransportError, IndexError):
                url = self.all[number % len(self.all)].url
                async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
                    answer = await client.request(method, path, **more)
                if answer.is_success:
                    return answer
                assert answer.status_code in {429, 503}, answer.text
            await asyncio.sleep(0.05)
        raise AssertionError(f"{path} was never accepted")


class Occurrences:
    """Makes occurrences of every kind, as the outside does."""

    def __init__(self, servers: Servers, mail: ImapProcess, orders: str, ids: dict[str, dict[str, Any]]) -> None:
        self._servers = servers
        self._mail = mail
        self._orders = orders
        self.triggers = ids
        self.made = 0

    async def make(self, count: int) -> None:
        """Make so many of each."""
        for _ in range(count):
            self.made += 1
            number = self.made
            message = EmailMessage()
            message["From"], message["Subject"] = "bo@example.org", f"Mail {number}"
            message["Message-ID"] = f"<{number}@faults.example.org>"
            message.set_content("x")
            await asyncio.to_thread(self._mail.add, message)
            with psycopg.connect(self._orders) as database:
                database.execute("INSERT INTO orders VALUES (%s)", (number,))
            await asyncio.gather(self._file(number), self._call(number), self._submit(number))

    async def _file(self, number: int) -> None:
        params = {"path": f"in/{number}.txt", "area": "flows"}
        await self._servers.until_accepted(
            "PUT", "/api/v1/workspace/files/content", params=params, json={"text": f"file {number}"}
        )

    async def _call(self, number: int) -> None:
        trigger = self.triggers["webhook"]
        headers = {"x-api-key": trigger["secret"], "x-event": f"call-{number}"}
        await self._servers.until_accepted("POST", trigger["path"], headers=headers, json={"number": number})

    async def _submit(self, number: int) -> None:
        path = self.triggers["form"]["path"]
        page = await self._servers.until_accepted("GET", path)
        about = re.search(r'<script id="about" type="application/json">(.*?)</script>', page.text)
        assert about
        visit = json.loads(about[1])["visit"]
        headers = {"origin": "null", "sec-fetch-site": "cross-site", "x-widget-visit": visit}
        await self._servers.until_accepted(
            "POST", f"{path}/submissions", headers=headers, json={"text": f"form {number}", "form_data": {}}
        )


async def poll_often(database: Database) -> None:
    """Have triggers that poll due again and again."""
    while True:
        async with database.writing() as session:
            await session.execute(
                text(
                    "UPDATE triggers SET due_at = :at, next_at = :at WHERE kind IN ('mail', 'folder', 'rows')"
                    " AND worker_id IS NULL"
                ),
                {"at": clock()},
            )
        await asyncio.sleep(0.3)


async def add_triggers(servers: Servers, flow_id: str, mail: ImapProcess, parts: Any, port: int) -> Any:
    async def post(path: str, **body: Any) -> Any:
        return (await servers.until_accepted("POST", f"/api/v1{path}", json=body)).json()

    space = (await servers.until_accepted("GET", f"/api/v1/flows/{flow_id}")).json()["space_id"]
    sql = {"dialect": "postgresql", "host": "127.0.0.1", "port": port, "tls": "off"}
    sql |= {"database": str(parts.database), "user": str(parts.username)}
    imap = {"host": "127.0.0.1", "port": mail.port, "security": "none", "user": USER}
    for name, kind, fields, password in (("db", "sql", sql, "not checked"), ("inbox", "imap", imap, PASSWORD)):
        await post("/connections", name=name, kind=kind, space_id=space, fields=fields, secrets={"password": password})
    configs: dict[str, dict[str, Any]] = {
        "schedule": {"every_seconds": 1},
        "webhook": {"event_key": "header:x-event"},
        "mail": POLL | {"connection": "inbox"},
        "folder": POLL | {"folder": "in", "pattern": "*.txt"},
        "rows": POLL | {"connection": "db", "sql": "SELECT * FROM orders", "cursor_column": "no"},
        "form": {},
    }
    return {
        kind: await post(f"/flows/{flow_id}/triggers", name=kind, config={"kind": kind} | config, policies=POLICIES)
        for kind, config in configs.items()
    }


@pytest.fixture
def mail_server() -> Iterator[ImapProcess]:
    server = ImapProcess()
    yield server
    server.close()


@pytest.fixture
async def made(
    installation: Installation, postgres: Postgres, mail_server: ImapProcess, tmp_path: Path
) -> AsyncIterator[tuple[Servers, Occurrences]]:
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    servers = Servers(installation, deaths)
    await servers.start()
    flow_id = await installation.make_flow(servers.all[0], FLOW)
    await servers.until_accepted("POST", f"/api/v1/flows/{flow_id}/publish", json={})
    await servers.start()
    with postgres.empty() as url:
        parts = make_url(url)
        uri = parts.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(uri) as database:
            database.execute("CREATE TABLE orders (no integer PRIMARY KEY)")
        with forwarded(f"{parts.query['host']}/.s.PGSQL.{parts.query.get('port', 5432)}") as port:
            triggers = await add_triggers(servers, flow_id, mail_server, parts, port)
            yield servers, Occurrences(servers, mail_server, uri, triggers)


class TestTriggers:
    async def test_killed_around_each_start_start_one_run_for_each_occurrence(
        self,
        made: tuple[Servers, Occurrences],
        database: Database,
        tmp_path: Path,
        record_property: Record,
    ) -> None:
        servers, occurrences = made
        background = [asyncio.create_task(servers.restart()), asyncio.create_task(poll_often(database))]
        deaths = tmp_path / "deaths"
        for dying in DEATHS:
            for point, kind in dying:
                (deaths / f"{point}-{kind}").touch()
            await occurrences.make(EACH)
            while list(deaths.iterdir()):
                assert not any(task.done() for task in background)
                await asyncio.sleep(0.05)
        expected = {
            "webhook": {f"event:call-{number}" for number in range(1, occurrences.made + 1)},
            "mail": {f"item:<{number}@faults.example.org>" for number in range(1, occurrences.made + 1)},
            "rows": {f"item:{number}" for number in range(1, occurrences.made + 1)},
        }
        counts = dict.fromkeys(("webhook", "mail", "rows", "form", "folder"), occurrences.made)
        while not all_there(await keys_of(database), counts):
            assert not any(task.done() for task in background)
            await asyncio.sleep(0.1)
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        keys = await keys_of(database)
        await check_runs(database)
        assert {kind: set(keys[kind]) for kind in expected} == expected
        assert {kind: len(keys[kind]) for kind in counts} == counts
        due = sorted(map(int, keys["schedule"]))
        assert [later - earlier for earlier, later in pairwise(due)] == [1_000_000] * (len(due) - 1)
        assert servers.died >= sum(map(len, DEATHS))
        total = sum(map(len, keys.values()))
        record_property("figures", f"{servers.died} servers killed, {total} occurrences, one run each")


def all_there(keys: dict[str, list[str]], counts: dict[str, int]) -> bool:
    return all(len(keys[kind]) >= count for kind, count in counts.items())


async def keys_of(database: Database) -> dict[str, list[str]]:
    """The keys of the occurrences that have a run, by kind; of a schedule the due times."""
    keys: dict[str, list[str]] = {kind: [] for kind in KINDS}
    async with database.reading() as session:
        query = text(
            "SELECT t.kind, coalesce(CAST(o.due_at AS TEXT), o.occurrence_key) FROM trigger_occurrences o"
            " JOIN triggers t ON t.id = o.trigger_id WHERE o.status = 'started'"
        )
        for kind, key in await session.execute(query):
            keys[kind].append(key)
    return keys


async def check_runs(database: Database) -> None:
    """Each occurrence has started, and each run is that of one."""
    async with database.reading() as session:
        rows = (await session.execute(text("SELECT status, flow_run_id FROM trigger_occurrences"))).all()
        runs = (await session.execute(text("SELECT id FROM flow_runs"))).all()
    assert {row[0] for row in rows} == {"started"}
    assert Counter(row[1] for row in rows) == Counter(row[0] for row in runs)
