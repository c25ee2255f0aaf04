"""Widgets of published flows, as visitors and outside pages reach them, on both databases."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import RateLimitSettings, Settings
from tests.support.people import BASE
from tests.support.team import Team, team

ELSEWHERE = "https://www.example.org"
FORM = [{"id": "who", "label": "Who", "required": True}, {"id": "photo", "label": "Photo", "type": "image"}]
GREET: dict[str, Any] = {
    "name": "Greet",
    "nodes": [
        {
            "id": "secretly",
            "type": "TextInput",
            "label": "the prompt of",
            "params": {"text": "Hi {{flow_input.who}}"},
        },
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [{"source": "secretly", "output": "text", "target": "said", "input": "input"}],
    "form": FORM,
    "settings": {"widget": {"enabled": True, "title": "<Greetings>", "origins": [ELSEWHERE]}},
}


@dataclass
class Visitor:
    """Somebody on an outside page: no cookie, no key; the origin of a sandboxed frame."""

    http: httpx2.AsyncClient
    flow_id: str
    visit: str = ""

    async def load(self) -> httpx2.Response:
        page = await self.http.get(f"/w/{self.flow_id}")
        found = re.search(r'<script id="about" type="application/json">(.*?)</script>', page.text)
        self.visit = json.loads(found[1])["visit"] if found else ""
        return page

    async def post(self, path: str, **more: Any) -> httpx2.Response:
        headers = {"origin": "null", "sec-fetch-site": "cross-site", "x-widget-visit": self.visit}
        headers |= more.pop("headers", {})
        return await self.http.post(f"/w/{self.flow_id}/{path}", headers=headers, **more)

    async def run(self, **body: Any) -> str:
        answer = await self.post("runs", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["run"])

    async def events(self, run: str) -> httpx2.Response:
        return await self.http.get(f"/w/{self.flow_id}/runs/{run}/events", headers={"origin": "null"})


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(widget_per_minute=8)) as found:
        yield found


@pytest.fixture
async def visitor(us: Team) -> AsyncIterator[Visitor]:
    transport = httpx2.ASGITransport(app=us.app, raise_app_exceptions=False, client=("192.0.2.7", 5))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE.removesuffix("/api/v1")) as http:
        yield Visitor(http, await offered(us))


async def offered(us: Team, **changes: Any) -> str:
    flow_id = str((await us.make("editor", "/flows", definition=GREET | changes))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


class TestFrame:
    async def test_is_shown_on_the_pages_that_the_flow_allows_and_has_no_origin(self, visitor: Visitor) -> None:
        page = await visitor.load()
        policy = page.headers["content-security-policy"]
        assert f"frame-ancestors 'self' {ELSEWHERE};" in policy
        assert "sandbox allow-scripts allow-forms allow-downloads" in policy
        assert "allow-same-origin" not in policy
        assert "set-cookie" not in page.headers
        assert "<Greetings>" not in page.text
        assert "access-control-allow-origin" not in page.headers, "no page may read the visit's token"
        assert "the prompt of" not in page.text

    async def test_is_a_page_in_words_where_nothing_is_offered(self, us: Team, visitor: Visitor) -> None:
        never = str((await us.make("editor", "/flows", definition=GREET))["id"])
        silent = await offered(us, settings={})
        for flow_id in (never, silent, "00000000-0000-7000-8000-00000000dead", "nonsense"):
            page = await visitor.http.get(f"/w/{flow_id}")
            assert page.status_code == 404
            assert "Not available" in page.text

    async def test_is_gone_as_soon_as_the_draft_says_so(self, us: Team, visitor: Visitor) -> None:
        await visitor.load()
        run = await visitor.run(form_data={"who": "A"})
        flow = await us.get("editor", f"/flows/{visitor.flow_id}")
        flow["definition"]["settings"]["widget"]["enabled"] = False
        body = {"revision": flow["revision"], "definition": flow["definition"]}
        assert (await us.ask("editor", "PATCH", f"/flows/{visitor.flow_id}/draft", json=body)).status_code == 200
        assert (await visitor.load()).status_code == 404
        assert (await visitor.post("runs", json={})).status_code == 404
        assert (await visitor.events(run)).status_code == 404

    async def test_is_not_put_up_by_a_draft_alone(self, us: Team, visitor: Visitor) -> None:
        silent = await offered(us, settings={})
        flow = await us.get("editor", f"/flows/{silent}")
        flow["definition"]["settings"] = GREET["settings"]
        body = {"revision": flow["revision"], "definition": flow["definition"]}
        assert (await us.ask("editor", "PATCH", f"/flows/{silent}/draft", json=body)).status_code == 200
        assert (await visitor.http.get(f"/w/{silent}")).status_code == 404

    @pytest.mark.parametrize(
        "widget",
        [
            {"origins": ["https://a.example/; script-src *"]},
            {"origins": ["example.org"]},
            {"color": "red;}"},
            {"kind": "page"},
            {"title": "x" * 500},
            {"more": 1},
        ],
    )
    async def test_is_not_published_with_settings_that_are_none(self, us: Team, widget: dict[str, Any]) -> None:
        made = await us.make("editor", "/flows", definition=GREET | {"settings": {"widget": widget}})
        answer = await us.ask("publisher", "POST", f"/flows/{made['id']}/publish")
        assert (answer.status_code, answer.json()["code"]) == (422, "flow_invalid")


class TestRuns:
    async def test_tell_the_result_and_nothing_else(self, us: Team, visitor: Visitor) -> None:
        await visitor.load()
        heard = await visitor.events(await visitor.run(form_data={"who": "Åsa"}))
        assert heard.headers["access-control-allow-origin"] == "*"
        assert '"text":"Hi Åsa"' in heard.text
        for inside in ("secretly", "the prompt of", "step", visitor.flow_id, us.space, "tenant"):
            assert inside not in heard.text
        (run,) = (await us.get("owner", "/flow-runs"))["items"]
        assert (run["status"], run["version"], run["user_id"]) == ("completed", 1, None)

    async def test_are_of_the_published_version_alone(self, us: Team, visitor: Visitor) -> None:
        await visitor.load()
        for more in ({"version": "draft"}, {"version": 1}, {"session_id": "x"}, {"file_ids": ["x"]}):
            assert (await visitor.post("runs", json={"form_data": {"who": "A"}, **more})).status_code == 422

    async def test_say_what_the_form_lacks_and_no_more(self, visitor: Visitor) -> None:
        await visitor.load()
        answer = await visitor.post("runs", json={})
        assert (answer.status_code, answer.json()["code"]) == (422, "run_input_invalid")
        assert "who" in answer.json()["detail"]

    @pytest.mark.parametrize(
        "sent",
        [
            '{"form_data": {"who": NaN}}',
            '{"form_data": {"who": 1e999}}',
            '{"form_data": {"who": 99999999999999999999999999}}',
            '{"form_data": {"who": "a\\u0000"}}',
            '{"form_data": {"a\\u0000": "b"}}',
            '{"form_data": {"who": ' + "[" * 100_000,
            "\xff",
        ],
    )
    async def test_of_values_that_cannot_be_stored_are_refused_in_words(self, visitor: Visitor, sent: str) -> None:
        await visitor.load()
        answer = await visitor.post("runs", content=sent, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["code"] in {"bad_request", "run_input_invalid"}) == (422, True)
        assert answer.headers["access-control-allow-origin"] == "*"

    async def test_that_fail_say_nothing_of_why(self, us: Team, visitor: Visitor) -> None:
        failing = [{"id": "secretly", "type": "ChatInput", "policy": {"output_type": "json"}}, GREET["nodes"][1]]
        visitor.flow_id = await offered(us, nodes=failing, form=[])
        await visitor.load()
        heard = await visitor.events(await visitor.run(text="the cause"))
        assert "event: failed\ndata: {}" in heard.text
        assert "cause" not in heard.text
        assert "json" not in heard.text.lower()

    async def test_take_files_of_the_same_visit_alone(self, us: Team, visitor: Visitor) -> None:
        await visitor.load()
        sent = await visitor.post("files", files={"file": ("a.png", b"\x89PNG....", "image/png")})
        assert sent.status_code == 201, sent.text
        token = sent.json()["token"]
        run = await visitor.run(form_data={"who": "A", "photo": [token]})
        assert "event: done" in (await visitor.events(run)).text
        other = Visitor(visitor.http, visitor.flow_id)
        await other.load()
        answer = await other.post("runs", json={"form_data": {"who": "A", "photo": [token]}})
        assert answer.status_code == 403
        upload = await us.ask("owner", "POST", "/files", files={"file": ("b.txt", b"ours", "text/plain")})
        for stolen in (upload.json()["id"], "x", ""):
            body = {"form_data": {"who": "A", "photo": stolen or "y"}}
            assert (await visitor.post("runs", json=body)).status_code in {403, 422}

    async def test_too_large_a_file_is_refused(self, visitor: Visitor) -> None:
        await visitor.load()
        answer = await visitor.post("files", files={"file": ("a.bin", b"x" * 3_600_000, "text/plain")})
        assert answer.status_code == 413


class TestTokens:
    async def test_are_of_one_flow_and_one_purpose(self, us: Team, visitor: Visitor) -> None:
        await visitor.load()
        run = await visitor.run(form_data={"who": "A"})
        other = Visitor(visitor.http, await offered(us, name="Other"))
        await other.load()
        assert (await other.events(run)).status_code == 403
        assert (await visitor.events(visitor.visit)).status_code == 403
        mine = visitor.visit
        for visit in ("", "x", "å", mine[:-2], run, mine + "x" * 4_000, other.visit):
            visitor.visit = visit.encode("ascii", "ignore").decode()
            answer = await visitor.post("runs", json={"form_data": {"who": "A"}})
            assert answer.status_code in {403, 422}, visit[:40]
        (one,) = (await us.get("owner", "/flow-runs"))["items"]
        answer = await visitor.http.get(f"/w/{visitor.flow_id}/runs/{one['id']}/events")
        assert answer.status_code == 403, "an id opens nothing"

    async def test_are_no_key_of_the_api(self, visitor: Visitor) -> None:
        await visitor.load()
        for headers in ({"Authorization": f"Bearer {visitor.visit}"}, {"x-api-key": visitor.visit}):
            assert (await visitor.http.get("/api/v1/flows", headers=headers)).status_code == 401


class TestPages:
    async def test_of_others_may_not_ask(self, visitor: Visitor) -> None:
        await visitor.load()
        for origin in (ELSEWHERE, "https://evil.example", "file://"):
            answer = await visitor.post("runs", json={"form_data": {"who": "A"}}, headers={"origin": origin})
            assert (answer.status_code, answer.json()["code"]) == (403, "widget_refused")

    async def test_are_not_let_into_the_api_by_it(self, visitor: Visitor) -> None:
        answer = await visitor.http.post("/api/v1/flows", json={}, headers={"origin": "null"})
        assert answer.json()["code"] == "origin_refused"

    async def test_ask_first_what_the_frame_may_send(self, visitor: Visitor) -> None:
        answer = await visitor.http.options(f"/w/{visitor.flow_id}/runs", headers={"origin": "null"})
        assert answer.status_code == 204
        assert "x-widget-visit" in answer.headers["access-control-allow-headers"]
        assert "access-control-allow-credentials" not in answer.headers


class TestLimits:
    async def test_of_one_address_are_told(self, visitor: Visitor) -> None:
        await visitor.load()
        answers = [(await visitor.post("runs", json={"form_data": {"who": "A"}})) for _ in range(10)]
        assert [one.status_code for one in answers][:8] == [201] * 8
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        assert answers[-1].headers["access-control-allow-origin"] == "*"
