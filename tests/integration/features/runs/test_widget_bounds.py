"""What strangers can take of a server through a widget: a real server, real connections that stay open."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.features.runs.quotas.service import Quotas
from headgate.features.runs.widget.bounds import EVERYWHERE_TIMES, OpenAnswers
from headgate.features.runs.widget.errors import TooManyOpen
from headgate.foundation.settings import QuotaSettings, RateLimitSettings, Settings
from tests.integration.http.asking import listening
from tests.support.databases import SqliteFiles, make_settings
from tests.support.patience import PATIENCE_SECONDS
from tests.support.team import Team, team

MOST_OPEN, A_MINUTE = 3, 6
SLOW: dict[str, Any] = {
    "name": "Slow",
    "nodes": [
        {"id": "heard", "type": "ChatInput"},
        {"id": "wait", "type": "Wait", "params": {"seconds": 30}},
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [
        {"source": "heard", "output": "message", "target": "wait", "input": "value"},
        {"source": "wait", "output": "value", "target": "said", "input": "input"},
    ],
    "settings": {"widget": {"enabled": True, "kind": "chat"}},
}


@pytest.fixture
def settings(sqlite_files: SqliteFiles, tmp_path: Path) -> Settings:
    """What is counted is the same on every database."""
    sqlite_files.fresh(tmp_path)
    return make_settings(tmp_path)


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    limits = RateLimitSettings(widget_per_minute=A_MINUTE, widget_open=MOST_OPEN)
    async with team(settings, rate_limits=limits) as found:
        yield found


class Stranger:
    """A program that asks as the frame's script does."""

    def __init__(self, http: httpx2.AsyncClient, flow_id: str) -> None:
        self.http = http
        self.flow_id = flow_id
        self._open = AsyncExitStack()

    async def load(self) -> httpx2.Response:
        return await self.http.get(f"/w/{self.flow_id}")

    async def visit(self) -> dict[str, str]:
        """The headers of a visit."""
        about = re.search(r'type="application/json">(.*?)</script>', (await self.load()).text)
        assert about is not None
        return {"origin": "null", "x-widget-visit": json.loads(about[1])["visit"]}

    async def start(self) -> str:
        headers = await self.visit()
        answer = await self.http.post(f"/w/{self.flow_id}/runs", headers=headers, json={"text": "hello"})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["run"])

    async def listen(self, run: str) -> httpx2.Response:
        """Hear a run, and stay."""
        line = self.http.stream("GET", f"/w/{self.flow_id}/runs/{run}/events", headers={"origin": "null"})
        answer = await self._open.enter_async_context(line)
        if answer.status_code != 200:
            await answer.aread()
        return answer

    async def hang_up(self) -> None:
        await self._open.aclose()


@pytest.fixture
async def stranger(us: Team) -> AsyncIterator[Stranger]:
    flow_id = str((await us.make("editor", "/flows", definition=SLOW))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    limits = httpx2.Limits(max_connections=None)
    async with (
        listening(us.app) as address,
        httpx2.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS, limits=limits) as http,
    ):
        found = Stranger(http, flow_id)
        yield found
        await found.hang_up()


async def until(come: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not come():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


class TestOpenAnswers:
    async def test_of_one_address_are_bounded_and_make_room_when_they_end(self, us: Team, stranger: Stranger) -> None:
        run = await stranger.start()
        answers = await asyncio.gather(*(stranger.listen(run) for _ in range(MOST_OPEN + 5)))
        assert Counter(answer.status_code for answer in answers) == {200: MOST_OPEN, 429: 5}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["detail"].startswith("Too many visitors are being served right now. Try again in")
        assert int(refused.headers["retry-after"]) > 0
        assert refused.headers["access-control-allow-origin"] == "*"
        assert refused.headers["access-control-expose-headers"] == "Retry-After"
        await stranger.hang_up()
        await until(lambda: len(us.app.state.widget_answers) == 0)
        assert (await stranger.listen(run)).status_code == 200

    async def test_have_a_bound_for_everybody_together(self) -> None:
        answers = OpenAnswers(2)
        with ExitStack() as stack:
            for number in range(EVERYWHERE_TIMES):
                stack.enter_context(answers.held(f"192.0.2.{number}"))
                stack.enter_context(answers.held(f"192.0.2.{number}"))
            with pytest.raises(TooManyOpen), answers.held("198.51.100.1"):
                raise AssertionError("there was no place")
            assert len(answers) == 2 * EVERYWHERE_TIMES
        assert len(answers) == 0

    async def test_of_uploads_that_do_not_end_are_bounded_too(self, us: Team, stranger: Stranger) -> None:
        over = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
            await over.wait()

        visit = await stranger.visit()
        headers = visit | {"content-type": "multipart/form-data; boundary=x"}
        path = f"/w/{stranger.flow_id}/files"
        sending = [
            asyncio.create_task(stranger.http.post(path, content=endless(), headers=headers)) for _ in range(MOST_OPEN)
        ]
        await until(lambda: len(us.app.state.widget_answers) == MOST_OPEN)
        one_more = await stranger.http.post(path, headers=visit, files={"file": ("b.txt", b"b")})
        assert one_more.status_code == 429
        assert not any(task.done() for task in sending)
        for task in sending:
            task.cancel()
        await asyncio.wait(sending)
        await until(lambda: len(us.app.state.widget_answers) == 0)


class TestFiles:
    async def test_without_room_are_refused_in_words_that_tell_nothing_of_the_inside(
        self, us: Team, stranger: Stranger
    ) -> None:
        us.app.state.quotas = Quotas(us.app.state.database, QuotaSettings(tenant_storage_bytes=1))
        path, headers = f"/w/{stranger.flow_id}/files", await stranger.visit()
        answer = await stranger.http.post(path, headers=headers, files={"file": ("b.txt", b"bb")})
        assert (answer.status_code, answer.json()["code"]) == (413, "no_room_for_file")
        assert answer.json()["detail"] == "Files cannot be uploaded right now. Try without a file."


class TestAsking:
    async def test_of_one_address_has_an_end_whatever_is_asked_for(self, stranger: Stranger) -> None:
        nowhere = [f"/w/00000000-0000-7000-8000-{number:012d}" for number in range(A_MINUTE * 30)]
        answers = await asyncio.gather(*(stranger.http.get(path) for path in nowhere))
        assert Counter(answer.status_code for answer in answers) == {404: len(nowhere)}
        page = await stranger.load()
        for _ in range(10):  # on a slow machine new requests became free while they were answered
            if page.status_code != 200:
                break
            await asyncio.gather(*(stranger.http.get(path) for path in nowhere[: len(nowhere) // 2]))
            page = await stranger.load()
        assert page.status_code == 429
        assert page.headers["content-type"].startswith("text/html")
        assert "Reload the page in" in page.text
        assert int(page.headers["retry-after"]) > 0
        heard = await stranger.http.get(f"/w/{stranger.flow_id}/runs/x/events")
        file = await stranger.http.get(f"/w/{stranger.flow_id}/files/x")
        assert (heard.status_code, file.status_code) == (429, 429)
