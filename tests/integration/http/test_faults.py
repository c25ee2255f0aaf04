"""What a caller is told when Headgate itself is at fault: nothing but that, and an id that the log has too."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
import structlog
from fastapi import BackgroundTasks, Depends, FastAPI
from fastapi.responses import StreamingResponse
from sqlalchemy import text
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.entrypoints.http.answering import Interrupted
from headgate.foundation.api import ReadSession
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import configure
from headgate.foundation.settings import LogSettings, Settings
from tests.integration.http.test_api import is_problem

SECRET = "the secret detail"
TELLING = (
    "Traceback",
    ".py",
    "site-packages",
    "RuntimeError",
    "sqlalchemy",
    "SELECT",
    "headgate.entry",
    "headgate.feat",
    SECRET,
)


def shows_nothing(answer: httpx2.Response) -> None:
    shown = answer.text + json.dumps(dict(answer.headers))
    assert not [word for word in TELLING if word in shown], shown


async def raising() -> None:
    raise RuntimeError(SECRET)


async def raising_stream() -> AsyncIterator[bytes]:
    yield b"first"
    raise RuntimeError(SECRET)


class RaisingMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/in-middleware":
            raise RuntimeError(SECRET)
        await self.app(scope, receive, send)


@pytest.fixture
async def faulty(settings: Settings, app: FastAPI) -> FastAPI:
    """The application with a fault in each layer."""

    @app.get("/in-route")
    async def in_route() -> None:
        raise RuntimeError(SECRET)

    @app.get("/in-dependency", dependencies=[Depends(raising)])
    async def in_dependency() -> None: ...

    @app.get("/in-answer")
    async def in_answer() -> dict[str, Any]:
        return {"it": object()}

    @app.get("/in-database")
    async def in_database(session: ReadSession) -> None:
        await session.execute(text("SELECT secret FROM nothing WHERE x = :x"), {"x": SECRET})

    @app.get("/in-stream")
    async def in_stream() -> StreamingResponse:
        return StreamingResponse(raising_stream(), media_type="text/plain")

    @app.get("/afterwards")
    async def afterwards(later: BackgroundTasks) -> str:
        later.add_task(raising)
        return "done"

    @app.get("/of-our-own")
    async def of_our_own() -> None:
        raise HeadgateError("The disk is full.", remedy="Free some space.")

    app.user_middleware.append(Middleware(RaisingMiddleware))  # the innermost
    return app


@pytest.fixture(autouse=True)
def logs() -> Iterator[None]:
    """The log as machines read it."""
    before = structlog.get_config()
    configure(LogSettings(format="json"))
    yield
    structlog.configure(**before)


class TestFaults:
    @pytest.mark.parametrize("where", ["in-route", "in-dependency", "in-answer", "in-database", "in-middleware"])
    async def test_show_nothing_and_are_found_again_in_the_log(
        self, faulty: FastAPI, client: httpx2.AsyncClient, where: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answer = await client.get(f"/{where}")
        document = is_problem(answer, 500, "internal_error")
        shows_nothing(answer)
        assert document["request_id"] == answer.headers["x-request-id"]
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
        (found,) = [line for line in lines if line["event"] == "request failed"]
        assert found["request_id"] == document["request_id"]
        assert found["path"] == f"/{where}"
        assert found["exception"], "the log says why"

    async def test_log_no_token_of_an_address(
        self, faulty: FastAPI, client: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
    ) -> None:
        @faulty.get("/links/{token}")
        async def link(token: str) -> None:
            raise RuntimeError("a defect")

        assert (await client.get("/links/the-token")).status_code == 500
        written = capsys.readouterr().err
        assert '"path": "/links/{token}"' in written
        assert "the-token" not in written

    async def test_in_the_middle_of_an_answer_break_it_off(
        self, faulty: FastAPI, client: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
    ) -> None:
        transport = httpx2.ASGITransport(app=faulty)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as raw:
            with pytest.raises(Interrupted) as broken:
                await raw.get("/in-stream")
        assert broken.value.__suppress_context__, "the server's own log would show the trace again, unredacted"

    async def test_after_an_answer_leave_it_as_it_was(self, faulty: FastAPI, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/afterwards")
        assert (answer.status_code, answer.json()) == (200, "done")
        shows_nothing(answer)

    async def test_that_are_explained_stay_so(self, faulty: FastAPI, client: httpx2.AsyncClient) -> None:
        document = is_problem(await client.get("/of-our-own"), 500, "internal_error")
        assert document["remedy"] == "Free some space."
