"""What guards sessions: who may come in, how often, where notices may go, and what a receiver can do to us."""

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_address, ip_network
from time import monotonic
from typing import Any

import orjson
import pytest
from pydantic import SecretStr
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from headgate.features.access.principal import LOCAL
from headgate.foundation.database import Database
from headgate.foundation.errors import Forbidden, Invalid
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import CodevSettings, HttpSettings, Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import Bench, open_bench
from tests.support.direct import DIRECT
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import add_key, add_user, asking, bearer, running, signed_in
from tests.support.sign_in import still_minute
from tests.support.web_server import WebServer, answer, redirect, web_server

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
OPEN = HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")])
WANTED = {"requirement": "Greet people.", "domain": "headgate"}


async def secret_of(*_about: object) -> SecretStr | None:
    return SecretStr(SECRET)


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        yield found


@pytest.fixture
async def http() -> AsyncIterator[GuardedHttp]:
    made = GuardedHttp(OPEN, DIRECT)
    yield made
    await made.close()


async def webhook_told(bench: Bench, session_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async for _, kind, data in bench.sessions.follow(LOCAL, session_id):
                if kind == "webhook":
                    return dict(data)
            await asyncio.sleep(0.02)


class TestNotices:
    async def test_are_verified_by_who_shares_the_secret(
        self, settings: Settings, database: Database, web: WebServer, http: GuardedHttp
    ) -> None:
        web.on("/in", answer())
        place = FakePlace(greeter="nothing")
        async with open_bench(settings, database, place, secret_of=secret_of, http=http) as bench:
            plan = await bench.start(
                flow_id="greeter", webhook_url=web.url("/in"), requirement="Greet with sk-proj-0123456789abcdef"
            )
            assert (await webhook_told(bench, plan.thread_id))["delivered"] is True
        (received,) = web.seen("/in")
        told = Webhook(SECRET).verify(received.body, received.headers)
        assert told["thread_id"] == plan.thread_id
        assert b"0123456789abcdef" not in received.body
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(received.body + b" ", received.headers)
        again = received.headers | {"webhook-id": "another"}
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(received.body, again)

    async def test_follow_no_redirect(
        self, settings: Settings, database: Database, web: WebServer, http: GuardedHttp
    ) -> None:
        web.on("/in", redirect(web.url("/inside"), 307))
        async with open_bench(settings, database, FakePlace(greeter="nothing"), http=http) as bench:
            plan = await bench.start(flow_id="greeter", webhook_url=web.url("/in"))
            assert (await webhook_told(bench, plan.thread_id))["delivered"] is False
        assert web.seen("/inside") == []

    async def test_to_who_answers_slowly_hold_nothing_up(
        self, settings: Settings, database: Database, web: WebServer, http: GuardedHttp
    ) -> None:
        async def never(_received: Any, _writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        web.on("/in", never)
        began = monotonic()
        async with open_bench(settings, database, FakePlace(greeter="nothing"), http=http) as bench:
            plan = await bench.start(flow_id="greeter", webhook_url=web.url("/in"))
            review = await bench.answer(plan, approved=True)
            assert (await bench.answer(review, accepted=True)).status == "completed"
        assert monotonic() - began < 10

    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1/in",
            "http://2130706433/in",
            "http://[::1]/in",
            "http://[::ffff:169.254.169.254]/in",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/in",
            "https://ann:hunter2@hooks.example/in",
            "file:///etc/passwd",
            "ftp://hooks.example/in",
            "hooks.example/in",
        ],
    )
    async def test_go_nowhere_inside(self, settings: Settings, database: Database, url: str) -> None:
        guarded = GuardedHttp(HttpSettings(), DIRECT)
        async with open_bench(settings, database, FakePlace(greeter="nothing"), http=guarded) as bench:
            with pytest.raises((Forbidden, Invalid)) as refused:
                await bench.start(flow_id="greeter", webhook_url=url)
            assert (await bench.sessions.list(LOCAL)).items == []
        assert "hunter2" not in str(refused.value)
        await guarded.close()

    async def test_go_nowhere_inside_when_the_name_means_another_address_later(
        self, settings: Settings, database: Database
    ) -> None:
        found = ["93.184.215.14", *["127.0.0.1"] * 9]

        async def resolver(_host: str, _port: int) -> list[Any]:
            return [ip_address(found.pop(0))]

        guarded = GuardedHttp(HttpSettings(), DIRECT, resolver=resolver)
        async with open_bench(settings, database, FakePlace(greeter="nothing"), http=guarded) as bench:
            plan = await bench.start(flow_id="greeter", webhook_url="http://rebinds.example/in")
            told = await webhook_told(bench, plan.thread_id)
        assert told["delivered"] is False
        assert told["attempts"] == 1
        assert "loopback" in str(told["message"])
        await guarded.close()


class TestComingIn:
    async def test_needs_a_key_where_people_sign_in(self, settings: Settings) -> None:
        async with running(signed_in(settings)) as app, asking(app) as client:
            person = await add_user(app.state.database, "ann@headgate.example", admin=True)
            key = await add_key(app.state.database, person)
            for method, path in (
                ("POST", "/codev/sessions"),
                ("POST", "/codev/sessions/stream"),
                ("GET", "/codev/sessions"),
                ("GET", "/codev/patterns"),
                ("GET", "/codev/domains"),
            ):
                body = WANTED if method == "POST" else None
                assert (await client.request(method, path, json=body)).status_code == 401, path
                wrong = await client.request(method, path, json=body, headers=bearer(key[:-4] + "xxxx"))
                assert wrong.status_code == 401, path
            assert (await client.get("/codev/sessions", headers=bearer(key))).status_code == 200

    @pytest.mark.parametrize("path", ["/codev/sessions", "/codev/sessions/stream"])
    async def test_is_bounded_a_minute_and_address_with_auto_login_too(self, settings: Settings, path: str) -> None:
        few = settings.model_copy(update={"codev": CodevSettings(sessions_per_minute=3)})
        async with running(few) as app, asking(app) as client:
            with still_minute():
                answers = [await client.post(path, json=WANTED) for _ in range(5)]
            statuses = [one.status_code for one in answers]
            assert statuses[3:] == [429, 429], answers[0].text
            assert 429 not in statuses[:3]
            assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
            problem = orjson.loads(answers[-1].content)
            assert problem["status"] == 429
