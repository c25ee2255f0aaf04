"""How many turns one person has at once: a real server, the OpenAI client, a model that does not answer yet."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.integration.http.asking import listening
from tests.support.databases import SqliteFiles, make_settings
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK, add_key, add_space_row, add_user, bearer, running, signed_in

MOST = 3
ASK = {"input_value": "build a flow", "provider": "openai", "model_name": "gpt-5-mini"}
STREAM, WHOLE = "/api/v1/agentic/assist/stream", "/api/v1/agentic/assist"


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.sort = lambda _asked: lambda _asked: server.slow(2 * PATIENCE_SECONDS)
        yield server


@pytest.fixture
def settings(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    """How many there are is the same on every database."""
    sqlite_files.fresh(tmp_path)
    return make_settings(tmp_path)


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    limits = settings.assistant.model_copy(update={"max_turns_per_person": MOST})
    async with running(signed_in(settings, assistant=limits, http=LOOPBACK)) as made:
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789ab"), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(
                    session, LOCAL, made.state.box, name=name, value=SecretStr(value), organisation=True
                )
        yield made


@pytest.fixture
async def people(app: FastAPI) -> dict[str, list[dict[str, str]]]:
    """Name to the headers of two API keys."""
    found = {}
    for name in ("anna", "bob"):
        space = await add_space_row(app.state.database, name)
        person = await add_user(app.state.database, f"{name}@example.org", roles={space: Role.OWNER}, home=space)
        found[name] = [bearer(await add_key(app.state.database, person)) for _ in range(2)]
    return found


class Windows:
    """Clients with a turn each, open until they are hung up on."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._open: list[AsyncExitStack] = []

    async def ask(self, headers: dict[str, str]) -> httpx2.Response:
        """Ask as a stream; one that is answered stays open."""
        async with AsyncExitStack() as stack:
            client = httpx2.AsyncClient(base_url=self._address, headers=headers, timeout=PATIENCE_SECONDS)
            await stack.enter_async_context(client)
            answer = await stack.enter_async_context(client.stream("POST", STREAM, json=ASK))
            if answer.status_code == 200:
                self._open.append(stack.pop_all())
            else:
                await answer.aread()
        return answer

    async def hang_up(self, count: int) -> None:
        """Close so many."""
        for _ in range(count):
            await self._open.pop().aclose()

    async def close(self) -> None:
        """Close all."""
        await self.hang_up(len(self._open))


@pytest.fixture
async def windows(app: FastAPI) -> AsyncIterator[Windows]:
    async with listening(app) as address:
        found = Windows(address)
        yield found
        await found.close()


async def until(come: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not come():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


class TestTurnsAtOnce:
    async def test_of_one_person_are_bounded_over_all_their_keys(
        self, app: FastAPI, people: dict[str, list[dict[str, str]]], windows: Windows, openai: OpenAIServer
    ) -> None:
        keys = people["anna"] * 10
        answers = await asyncio.gather(*(windows.ask(key) for key in keys))
        assert Counter(answer.status_code for answer in answers) == {200: MOST, 429: len(keys) - MOST}
        await until(lambda: len(app.state.assistant.running_turns) == MOST)
        refused = next(answer for answer in answers if answer.status_code == 429)
        problem = json.loads(refused.content)
        assert (problem["code"], problem["limit"]) == ("too_many_turns", MOST)
        assert (
            "Wait until one of them is finished, or stop one, and send the request again. "
            "HEADGATE_ASSISTANT__MAX_TURNS_PER_PERSON sets the limit"
        ) in problem["remedy"]
        await until(lambda: len(openai.asked) >= MOST)
        assert len(openai.asked) == MOST, "nothing was paid for a turn that was refused"

    async def test_of_others_begin_meanwhile(self, people: dict[str, list[dict[str, str]]], windows: Windows) -> None:
        await asyncio.gather(*(windows.ask(people["anna"][0]) for _ in range(MOST + 2)))
        assert (await windows.ask(people["bob"][0])).status_code == 200

    async def test_make_room_when_they_are_hung_up_on(
        self, app: FastAPI, people: dict[str, list[dict[str, str]]], windows: Windows
    ) -> None:
        for _ in range(3):
            await asyncio.gather(*(windows.ask(people["anna"][0]) for _ in range(MOST)))
            assert (await windows.ask(people["anna"][1])).status_code == 429
            await windows.hang_up(MOST)
            await until(lambda: not len(app.state.assistant.running_turns.at_once))

    async def test_count_those_that_are_answered_whole(
        self, app: FastAPI, people: dict[str, list[dict[str, str]]], windows: Windows, openai: OpenAIServer
    ) -> None:
        await asyncio.gather(*(windows.ask(people["anna"][0]) for _ in range(MOST)))
        async with listening(app) as address, httpx2.AsyncClient(base_url=address, headers=people["anna"][1]) as client:
            refused = await client.post(WHOLE, json=ASK)
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")
            wrong = await client.post(WHOLE, json=ASK | {"flow_id": "no such flow"})
            assert wrong.status_code == 429
            await windows.hang_up(1)
            await until(lambda: len(app.state.assistant.running_turns.at_once) == MOST - 1)
            openai.sort = None
            openai.script(openai.text("Done."))
            for _ in range(MOST + 1):
                answer = await client.post(WHOLE, json=ASK | {"flow_id": "no such flow"})
                assert answer.status_code == 404, "what is refused for another reason gives its place back"
