"""Many turns of three people at once, half of them hung up on at some moment: nothing is left and nothing crosses."""

import asyncio
import gc
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import psutil
import pytest
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool
from pydantic import SecretStr
from sqlalchemy import QueuePool
from sqlalchemy.ext.asyncio import AsyncEngine

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.scenarios.model import is_classification, read_by
from tests.integration.agents.assistant.scenarios.stage import KEY
from tests.integration.http.asking import listening
from tests.support.logs import captured_logs
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK, add_key, add_space_row, add_user, bearer, running, signed_in
from tests.support.properties import sized
from tests.support.scripted_server import Asked, Script

PEOPLE, TURNS, WARM_TURNS = ("anna", "bob", "cleo"), sized(12, 50), sized(6, 15)
SEED = 20261122
UNIX = "a UNIX socket"


@dataclass
class Told:
    """What one turn was told."""

    who: str
    mark: str
    """A word that only this turn knows."""
    hang_up_after: int | None
    events: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.sort = lambda asked: _next(server, asked)
        yield server


def _next(server: OpenAIServer, asked: Asked) -> Script:
    """Builds a flow whose node is named after the mark of the turn, configures it, and says so."""
    if is_classification(asked):
        return server.structured({"translation": "build", "intent": "build_flow"})
    mark = read_by(asked).rpartition("the mark is ")[2].split()[0]
    done = sum(message["role"] == "tool" for message in asked.body["messages"])
    if done == 0:
        spec = f"name: {mark}\nnodes:\n  {mark}: TextInput\n    text: {mark}\n  out: ChatOutput\n"
        return server.tool_call("build_flow", {"spec": f"{spec}edges:\n  {mark}.text -> out.input\n"})
    if done == 1:
        return server.tool_call("configure_component", {"node_id": mark, "params": {"text": f"{mark} twice"}})
    return server.slow_text(f"Built {mark}.", random.Random(mark).random() / 5)


class TestManyAtOnce:
    @pytest.mark.campaign
    @pytest.mark.parametrize(
        "settings", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
    )
    async def test_end_alone_and_leave_nothing(self, settings: Settings, openai: OpenAIServer) -> None:
        chance = random.Random(SEED)
        many = settings.assistant.model_copy(update={"max_turns_per_person": TURNS})
        async with running(signed_in(settings, assistant=many, http=LOOPBACK)) as app:
            people = await _people(app, openai)
            async with listening(app) as address:
                # What requests import and open, and the pools grown to what so many at once need.
                await asyncio.gather(*(_turn(address, people, one) for one in _turns("warm", WARM_TURNS, chance)))
                tasks, files = await _at_rest(), await _descriptors(app)
                turns = _turns("mark", TURNS, chance)
                with captured_logs() as logs:
                    await asyncio.gather(*(_turn(address, people, one) for one in turns))
                    left = await _at_rest(tasks)
                assert left <= tasks
                async with asyncio.timeout(PATIENCE_SECONDS):  # the scheduler of jobs may be asking this very moment
                    while app.state.database.engine.pool.checkedout():  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                now = await _descriptors(app, len(files))
                assert len(now) <= len(files), Counter(now) - Counter(files)
                _check(turns, logs)
                await _check_stored(address, people, turns)


def _turns(name: str, count: int, chance: random.Random) -> list[Told]:
    """Turns of everybody; every second one is hung up on after a few events."""
    return [
        Told(PEOPLE[number % 3], f"{name}{number}", chance.randint(1, 6) if number % 2 else None)
        for number in range(count)
    ]


def _check(turns: list[Told], logs: Sequence[Mapping[str, Any]]) -> None:
    for one in turns:
        told = json.dumps(one.events)
        others = {other.mark for other in turns} - {one.mark}
        assert not any(f'"{other}"' in told or f" {other} " in told for other in others), told
        if one.hang_up_after is None:
            assert one.events[-1]["event"] == "complete", one.events[-1]
            assert one.events[-1]["data"]["result"] == f"Built {one.mark}."
            assert one.mark in json.dumps(one.events[-1]["data"]["flow"])
    hung_up = [one for one in turns if one.events[-1]["event"] not in {"complete", "error"}]
    assert len(hung_up) >= TURNS // 4
    cancelled = [entry for entry in logs if entry["event"] == "assistant.request.cancelled"]
    assert len(cancelled) >= len(hung_up), sorted({str(entry.get("event")) for entry in logs})


async def _check_stored(address: str, people: dict[str, dict[str, str]], turns: Sequence[Told]) -> None:
    """Each person has the flows of their own turns only: of one that was hung up on a whole one or none."""
    for who, headers in people.items():
        own = {one.mark: one for one in turns if one.who == who}
        async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
            answer = await client.get("/api/v1/flows", params={"limit": 100})
            stored = {flow["name"]: flow["id"] for flow in answer.raise_for_status().json()["items"]}
            assert len(stored) == len(answer.json()["items"])
            ended = {mark for mark, one in own.items() if one.events[-1]["event"] == "complete"}
            of_turns = {mark: flow_id for mark, flow_id in stored.items() if not mark.startswith("warm")}
            assert ended <= of_turns.keys() <= own.keys()
            for mark, flow_id in of_turns.items():
                flow = (await client.get(f"/api/v1/flows/{flow_id}")).raise_for_status().json()["definition"]
                assert [node["params"] for node in flow["nodes"] if node["id"] == mark] == [{"text": f"{mark} twice"}]
                assert len(flow["edges"]) == 1


async def _turn(address: str, people: dict[str, dict[str, str]], told: Told) -> None:
    model = {"provider": "openai", "model_name": "gpt-5-mini"}
    body = {"input_value": f"build it; the mark is {told.mark} .", "apply": True, **model}
    async with (
        httpx2.AsyncClient(base_url=address, headers=people[told.who], timeout=60) as client,
        client.stream("POST", "/api/v1/agentic/assist/stream", json=body) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                told.events.append(json.loads(line.removeprefix("data: ")))
                if told.hang_up_after is not None and len(told.events) >= told.hang_up_after:
                    return


async def _people(app: FastAPI, openai: OpenAIServer) -> dict[str, dict[str, str]]:
    state = app.state
    async with state.database.writing() as session:
        for name, value in (("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", openai.base_url)):
            await secrets.set_variable(session, LOCAL, state.box, name=name, value=SecretStr(value), organisation=True)
    found = {}
    for name in PEOPLE:
        space = await add_space_row(state.database, name)
        person = await add_user(state.database, f"{name}@example.org", roles={space: Role.OWNER}, home=space)
        found[name] = bearer(await add_key(state.database, person))
    return found


async def _at_rest(wanted: set[str] | None = None) -> set[str]:
    """Names of the tasks that are left when nothing is under way; waits for `wanted` a little."""
    names: set[str] = set()
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                gc.collect()  # clients of models that nobody holds any more close themselves, in tasks of their own
                await asyncio.sleep(0.1 if wanted else 2)
                names = {repr(task.get_coro()).split(" at ")[0] for task in asyncio.all_tasks()}
                if wanted is None or names <= wanted:
                    break
    return names


async def _descriptors(app: FastAPI, most: int | None = None) -> list[str]:
    """What files, sockets and pipes this process has open; waits until there are no more than `most`.

    Without it, until eight looks found no fewer.

    The database's idle connections are closed before. SQLite itself keeps the main file's descriptor of a closed
    connection for the next one while another connection is open (sqlite.org/lockingv3.html, POSIX advisory locks); an
    open connection has its write-ahead log open, which is counted.
    """
    found: list[str] = []
    counts: list[int] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                gc.collect()
                await _close_idle(app.state.database.engine)
                found = sorted(one for one in _open_files() if not one.endswith("headgate.db"))
                for _ in range(_pooled()):
                    found.remove(UNIX)
                counts.append(len(found))
                if len(found) <= most if most is not None else min(counts[-8:]) >= min(counts[:-8], default=math.inf):
                    break
                await asyncio.sleep(0.1)
    return found


async def _close_idle(engine: AsyncEngine) -> None:
    """Close what the pool keeps. Its `dispose` would forget what the server's own timers have in hand just then."""
    async with AsyncExitStack() as taken:
        for _ in range(cast("QueuePool", engine.pool).checkedin()):
            connection = await taken.enter_async_context(engine.connect())
            await connection.invalidate()


def _pooled() -> int:
    """Connections to PostgreSQL that psycopg's own pools, which grow to a bound, have at rest."""
    stats = [one.get_stats() for one in gc.get_objects() if isinstance(one, AsyncConnectionPool) and not one.closed]
    return sum(one["pool_available"] for one in stats)


def _open_files() -> Iterator[str]:
    """Files and pipes by their path, TCP by both ends."""
    sockets = psutil.Process().net_connections("all")
    connected = {one.fd: f"{one.laddr} to {one.raddr} {one.status}" if one.laddr else UNIX for one in sockets}
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            yield connected.get(int(path.name)) or str(path.readlink())
