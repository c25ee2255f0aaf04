"""Forms of triggers as visitors reach them, and one-time links, on both databases."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import text, update

from headgate.features.files.tables import StoredFile
from headgate.features.maintenance import expired
from headgate.features.maintenance.expired import delete_old_occurrences, delete_unsent_uploads
from headgate.features.triggers import firing
from headgate.features.triggers.forms import links
from headgate.foundation.database import now
from headgate.foundation.settings import QuotaSettings, RateLimitSettings, Settings
from tests.integration.features.triggers.conftest import add, occurrences, published
from tests.support.people import BASE
from tests.support.team import Team, team

GREET = """name: Greet
form:
  who: text
    required: true
  many: number
  photo: image
nodes:
  made: TextInput
    text: Hi {{flow_input.who}}
  said: ChatOutput
edges:
  made.text -> said.input
"""
PNG = b"\x89PNG\r\n\x1a\n"
POLICY_NONE = "frame-ancestors 'none'"


@dataclass(frozen=True)
class Visitor:
    """Somebody with the address of a form: no cookie, no key; the origin of a sandboxed page."""

    http: httpx2.AsyncClient
    path: str
    visit: str = ""

    async def page(self) -> httpx2.Response:
        return await self.http.get(self.path)

    async def about(self) -> dict[str, Any]:
        found = re.search(r'<script id="about" type="application/json">(.*?)</script>', (await self.page()).text)
        assert found
        about: dict[str, Any] = json.loads(found[1])
        return about

    async def opened(self) -> "Visitor":
        return replace(self, visit=(await self.about())["visit"])

    async def post(self, path: str, **more: Any) -> httpx2.Response:
        headers = {"origin": "null", "sec-fetch-site": "cross-site", "x-widget-visit": self.visit}
        headers |= more.pop("headers", {})
        return await self.http.post(f"{self.path}/{path}", headers=headers, **more)

    async def submit(self, **answers: Any) -> httpx2.Response:
        return await self.post("submissions", json={"form_data": answers})


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    rates = RateLimitSettings(enabled=False, widget_per_minute=1_000)
    async with team(settings, rate_limits=rates, quotas=QuotaSettings(visitor_runs=0)) as people:
        yield people


@pytest.fixture
async def http(us: Team) -> AsyncIterator[httpx2.AsyncClient]:
    async with visiting(us) as client:
        yield client


def visiting(us: Team, address: str = "192.0.2.7") -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=us.app, raise_app_exceptions=False, client=(address, 5))
    return httpx2.AsyncClient(transport=transport, base_url=BASE.removesuffix("/api/v1"))


async def form(us: Team, *, spec: str = GREET, policies: Any = None, saved: Any = None, **config: Any) -> Any:
    flow_id = await published(us, spec)
    members = {} if saved is None else {"input": saved}
    return await add(us, flow_id, name="Ask", config={"kind": "form", **config}, policies=policies, **members)


async def linked(us: Team, trigger: dict[str, Any], **body: Any) -> list[dict[str, Any]]:
    answer = await us.ask("publisher", "POST", f"/triggers/{trigger['id']}/links", json=body)
    assert answer.status_code == 201, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def links_of(us: Team, trigger: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await us.get("publisher", f"/triggers/{trigger['id']}/links"))["items"]
    return items


class TestPage:
    async def test_shows_the_form_to_anyone_and_to_no_frame(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us, title="<Ask> us", welcome_text="Hello")
        page = await Visitor(http, trigger["path"]).page()
        assert page.status_code == 200
        assert "<title>&lt;Ask&gt; us</title>" in page.text
        policy = page.headers["content-security-policy"]
        assert POLICY_NONE in policy
        assert "default-src 'none'" in policy
        assert "allow-same-origin" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        assert "set-cookie" not in page.headers
        about = await Visitor(http, trigger["path"]).about()
        assert [field["id"] for field in about["form"]] == ["who", "many", "photo"]
        assert (about["state"], about["welcome_text"]) == ("open", "Hello")

    async def test_does_not_ask_for_what_is_saved(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us, saved={"form_data": {"many": 7}})
        visitor = await Visitor(http, trigger["path"]).opened()
        assert [field["id"] for field in (await visitor.about())["form"]] == ["who", "photo"]
        refused = await visitor.submit(who="Ada", many=8)
        assert (refused.status_code, refused.json()["code"]) == (422, "run_input_invalid")
        assert (await visitor.submit(who="Ada")).status_code == 201
        (row,) = await occurrences(us, trigger["id"])
        run = await us.get("viewer", f"/flow-runs/{row['run_id']}")
        assert run["input"]["form_data"] == {"who": "Ada", "many": 7}

    @pytest.mark.parametrize(
        "path",
        [
            "/forms/none",
            "/forms/..%2f..%2fapi%2fv1%2fflows",
            "/forms/%00",
            "/forms/" + "a" * 500,
            "/forms/%C3%A5",
            "/forms/a'%20OR%201=1--",
        ],
    )
    async def test_is_nowhere_else(self, us: Team, http: httpx2.AsyncClient, path: str) -> None:
        await form(us)
        page = await http.get(path)
        assert page.status_code in {401, 404, 405}
        answer = await http.post(f"{path}/submissions", json={}, headers={"origin": "null"})
        assert answer.status_code in {401, 404, 405}

    async def test_is_no_webhook_and_a_webhook_is_no_form(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        token = trigger["path"].rpartition("/")[2]
        assert (await http.post(f"/hooks/{token}", json={})).status_code == 404
        hook = await add(us, trigger["flow_id"], name="Hook", config={"kind": "webhook", "verification": "none"})
        assert (await http.get(f"/forms/{hook['path'].rpartition('/')[2]}")).status_code == 404
        assert await occurrences(us, trigger["id"]) == []

    async def test_is_gone_when_its_flow_is(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        assert (await us.ask("publisher", "DELETE", f"/flows/{trigger['flow_id']}")).status_code == 204
        assert (await http.get(trigger["path"])).status_code == 404


class TestSubmissions:
    async def test_are_occurrences_with_their_run_and_marked_as_untrusted(
        self, us: Team, http: httpx2.AsyncClient
    ) -> None:
        trigger = await form(us, after_text="**Thanks**")
        visitor = await Visitor(http, trigger["path"]).opened()
        answer = await visitor.submit(who="Ada", many=3)
        assert answer.status_code == 201, answer.text
        assert answer.json() == {"text": "**Thanks**", "redirect_url": None, "again": True}
        assert answer.headers["access-control-allow-origin"] == "*"
        (row,) = await occurrences(us, trigger["id"])
        assert row["key"].startswith("form:")
        run = await us.get("viewer", f"/flow-runs/{row['run_id']}")
        assert run["input"]["form_data"] == {"who": "Ada", "many": 3}
        assert [entry["kind"] for entry in run["outside_content"]] == ["visitor"]
        assert run["trigger"]["kind"] == "form"
        read = await us.get("viewer", f"/triggers/{trigger['id']}")
        assert (read["submissions"], read["sentence"]) == (1, "When its form is submitted, by anyone with the address")

    async def test_that_are_sent_again_are_one(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us, max_submissions=2)
        visitor = await Visitor(http, trigger["path"]).opened()
        answers = await asyncio.gather(*(visitor.submit(who="Ada") for _ in range(20)))
        assert {answer.status_code for answer in answers} <= {201, 503}
        again = await visitor.submit(who="Ada")
        assert again.status_code == 201, again.text
        assert len(await occurrences(us, trigger["id"])) == 1
        assert (await visitor.submit(who="Eva")).status_code == 201  # corrected: another one
        assert (await visitor.submit(who="Ada")).status_code == 201  # full, but this one was accepted
        assert len(await occurrences(us, trigger["id"])) == 2
        assert (await visitor.submit(who="Bo")).json()["code"] == "form_closed"

    async def test_carry_files_of_their_visit_alone(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        other = await Visitor(http, trigger["path"]).opened()
        upload = await visitor.post("files", files={"file": ("p.png", PNG, "image/png")})
        assert upload.status_code == 201, upload.text
        token = upload.json()["token"]
        stolen = await other.submit(who="Eva", photo=[token])
        assert (stolen.status_code, stolen.json()["code"]) == (403, "widget_refused")
        answer = await visitor.submit(who="Ada", photo=[token])
        assert answer.status_code == 201, answer.text
        (row,) = await occurrences(us, trigger["id"])
        run = await us.get("viewer", f"/flow-runs/{row['run_id']}")
        (file_id,) = run["input"]["form_data"]["photo"]
        guessed = await other.submit(who="Eva", photo=[file_id])
        assert guessed.json()["code"] == "widget_refused"

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"form_data": {"who": "a" * 20_001}}, 422),
            ({"form_data": {"who": {"deep": 1}}}, 422),
            ({"form_data": {"who": None}}, 422),
            ({"form_data": {"who": "Ada", "many": "x"}}, 422),
            ({"form_data": {"who": "Ada", "photo": "../../etc/passwd"}}, 403),
            ({"form_data": {"who": "Ada", "other": "x"}}, 422),
            ({"form_data": {}}, 422),
            ({"form_data": {str(number): "x" for number in range(200)}}, 422),
            ({"form_data": {"who": "Ada"}, "owner_user_id": "me"}, 422),
            ({"form_data": {"who": "\x00"}}, 422),
            ([], 422),
        ],
    )
    async def test_that_are_hostile_start_nothing(
        self, us: Team, http: httpx2.AsyncClient, body: Any, status: int
    ) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        answer = await visitor.post("submissions", json=body)
        assert answer.status_code == status, answer.text
        assert await occurrences(us, trigger["id"]) == []
        assert (await us.get("viewer", f"/triggers/{trigger['id']}"))["submissions"] == 0

    async def test_need_a_visit_and_the_page_itself(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger, other = await form(us), await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        for wrong in (
            replace(visitor, visit=""),
            replace(visitor, visit="x" * 3_000),
            replace(visitor, path=other["path"]),
        ):
            assert (await wrong.submit(who="Ada")).status_code in {403, 422}
        elsewhere = {"origin": "https://evil.example.org"}
        refused = await visitor.post("submissions", json={"form_data": {"who": "Ada"}}, headers=elsewhere)
        assert (refused.status_code, refused.json()["code"]) == (403, "widget_refused")
        huge = await visitor.post("submissions", content=b"{" + b" " * 6_000_000)
        assert huge.status_code == 413
        big = await visitor.post("files", files={"file": ("p.png", b"x" * 3_600_000, "image/png")})
        assert big.status_code == 413
        assert await occurrences(us, trigger["id"]) == []
        assert await occurrences(us, other["id"]) == []

    async def test_of_a_wrong_file_are_refused_and_kept_with_the_reason(
        self, us: Team, http: httpx2.AsyncClient
    ) -> None:
        trigger = await form(us)
        link = (await linked(us, trigger))[0]
        visitor = await Visitor(http, link["path"]).opened()
        token = (await visitor.post("files", files={"file": ("a.txt", b"x", "text/plain")})).json()["token"]
        answer = await visitor.submit(who="Ada", photo=[token])
        assert (answer.status_code, answer.json()["code"]) == (422, "run_input_invalid")
        (row,) = await occurrences(us, trigger["id"])
        assert (row["status"], row["reason"]) == ("skipped", "run_input_invalid")
        assert (await links_of(us, trigger))[0]["state"] == "open"  # the visitor corrects it
        assert (await visitor.submit(who="Ada")).status_code == 201

    async def test_lose_files_that_were_not_submitted_within_a_day(
        self, us: Team, http: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        png = {"file": ("p.png", PNG, "image/png")}
        sent, left = [(await visitor.post("files", files=png)).json()["token"] for _ in range(2)]
        assert (await visitor.submit(who="Ada", photo=[sent])).status_code == 201
        storage = us.app.state.storage

        async def stored() -> int:
            async with us.database.reading() as session:
                return len((await session.execute(text("SELECT id FROM files"))).all())

        assert (await delete_unsent_uploads(us.database, storage, settings.retention)).artifacts == 0
        past = now() - timedelta(minutes=1)
        async with us.database.writing() as session:
            await session.execute(update(StoredFile).where(StoredFile.expires_at.is_not(None)).values(expires_at=past))
        with monkeypatch.context() as patch:
            patch.setattr(expired, "BATCH", 0)  # a dry run counts more than one batch
            assert (await delete_unsent_uploads(us.database, storage, settings.retention, dry=True)).artifacts == 1
        assert await stored() == 2
        assert (await delete_unsent_uploads(us.database, storage, settings.retention)).artifacts == 1
        assert await stored() == 1
        late = await visitor.submit(who="Eva", photo=[left])
        assert late.json()["code"] == "form_upload_gone"
        (row,) = [row for row in await occurrences(us, trigger["id"]) if row["run_id"]]
        run = await us.get("viewer", f"/flow-runs/{row['run_id']}")
        assert len(run["input"]["form_data"]["photo"]) == 1

    async def test_with_a_file_that_is_gone_say_so(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        png = {"file": ("p.png", PNG, "image/png")}
        token = (await visitor.post("files", files=png)).json()["token"]
        async with us.database.writing() as session:
            await session.execute(text("DELETE FROM files"))
        answer = await visitor.submit(who="Eva", photo=[token])
        assert (answer.status_code, answer.json()["code"]) == (409, "form_upload_gone")
        (row,) = await occurrences(us, trigger["id"])
        assert (row["status"], row["run_id"]) == ("skipped", None)
        assert (await visitor.submit(who="Eva")).status_code == 201

    async def test_wait_when_too_many_run(
        self, us: Team, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trigger = await form(us, policies={"overlap": "allow", "rate_runs": 1, "rate_seconds": 86_400})
        monkeypatch.setattr(firing, "MOST_QUEUED", 1)
        path = (await linked(us, trigger))[0]["path"]
        answers = [await (await Visitor(http, trigger["path"]).opened()).submit(who="Ada")]
        answers += [await (await Visitor(http, path).opened()).submit(who="Eva")]
        assert [answer.status_code for answer in answers] == [201, 201]
        full = await (await Visitor(http, trigger["path"]).opened()).submit(who="Bo")
        assert full.status_code == 429
        rows = await occurrences(us, trigger["id"])
        assert [row["status"] for row in rows] == ["started", "queued"]
        assert (await links_of(us, trigger))[0]["state"] == "used"
        assert (await us.get("viewer", f"/triggers/{trigger['id']}"))["submissions"] == 2

    async def test_say_nothing_of_the_installation(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        async with us.database.writing() as session:
            await session.execute(text("UPDATE triggers SET owner_user_id = NULL"))
        answer = await visitor.submit(who="Ada")
        assert (answer.status_code, answer.json()["code"]) == (503, "form_busy")
        assert "owner" not in answer.text
        upload = await visitor.post("files", files={"file": ("p.png", PNG, "image/png")})
        assert upload.json()["code"] == "form_busy"


class TestClosing:
    async def test_by_number_holds_under_concurrent_submissions(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us, max_submissions=3)
        visitors = [await Visitor(http, trigger["path"]).opened() for _ in range(20)]

        async def send(visitor: Visitor) -> httpx2.Response:
            while (answer := await visitor.submit(who="Ada")).status_code == 503:
                pass
            return answer

        answers = await asyncio.gather(*map(send, visitors))
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [409] * 17
        assert len(await occurrences(us, trigger["id"])) == 3
        page = await Visitor(http, trigger["path"]).page()
        assert page.status_code == 410
        about = await Visitor(http, trigger["path"]).about()
        assert (about["state"], about["form"], about["visit"]) == ("closed", [], "")

    async def test_by_time_and_by_a_pause(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        config = {"kind": "form", "closes_at": (now() - timedelta(seconds=1)).isoformat()}
        changed = await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json={"config": config})
        assert changed.status_code == 200, changed.text
        closed = await visitor.submit(who="Ada")
        assert (closed.status_code, closed.json()["code"]) == (409, "form_closed")
        await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json={"config": {"kind": "form"}})
        await us.ask("publisher", "POST", f"/triggers/{trigger['id']}/pause", json={"reason": "hidden"})
        paused = await visitor.submit(who="Ada")
        assert (paused.status_code, paused.json()["code"]) == (409, "form_closed")
        assert "hidden" not in (await visitor.page()).text
        assert await occurrences(us, trigger["id"]) == []
        await us.ask("publisher", "POST", f"/triggers/{trigger['id']}/resume")
        assert (await visitor.submit(who="Ada")).status_code == 201

    @pytest.mark.parametrize(
        "config",
        [
            {"redirect_url": "javascript:alert(1)"},
            {"redirect_url": "https://user:pass@example.org"},
            {"redirect_url": "//example.org"},
            {"redirect_url": "https://exa mple.org"},
            {"redirect_url": "https://[::1"},
            {"redirect_url": "https://example.org", "after_text": "Thanks"},
            {"max_submissions": 0},
            {"color": "red;}"},
            {"title": "a" * 121},
        ],
    )
    async def test_settings_are_checked(self, us: Team, config: Any) -> None:
        flow_id = await published(us, GREET)
        body = {"name": "Ask", "config": {"kind": "form", **config}}
        assert (await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json=body)).status_code == 422


class TestLinks:
    async def test_take_one_submission_among_fifty_at_once(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us, access="links", redirect_url="https://example.org/thanks")
        assert trigger["path"] is None
        (link,) = await linked(us, trigger, label="Ada")
        visitors = [await Visitor(http, link["path"]).opened() for _ in range(50)]

        async def send(number: int, visitor: Visitor) -> httpx2.Response:
            while (answer := await visitor.submit(who=f"Ada {number}")).status_code == 503:
                pass
            return answer

        answers = await asyncio.gather(*(send(number, visitor) for number, visitor in enumerate(visitors)))
        assert sorted(answer.status_code for answer in answers) == [201] + [409] * 49
        winner = next(number for number, answer in enumerate(answers) if answer.status_code == 201)
        assert answers[winner].json()["redirect_url"] == "https://example.org/thanks"
        (row,) = await occurrences(us, trigger["id"])
        (read,) = await links_of(us, trigger)
        assert (read["state"], read["label"], read["run_id"]) == ("used", "Ada", row["run_id"])
        again = await visitors[winner].submit(who=f"Ada {winner}")  # the answer was lost
        assert again.status_code == 201
        other = await visitors[winner].submit(who="Another")
        assert (other.status_code, other.json()["code"]) == (409, "form_link_spent")
        assert len(await occurrences(us, trigger["id"])) == 1
        page = await Visitor(http, link["path"]).page()
        assert page.status_code == 410
        assert (await Visitor(http, link["path"]).about())["state"] == "link_spent"

    async def test_are_needed_where_the_form_says_so(self, us: Team, http: httpx2.AsyncClient) -> None:
        trigger = await form(us)
        visitor = await Visitor(http, trigger["path"]).opened()
        await us.ask(
            "publisher", "PATCH", f"/triggers/{trigger['id']}", json={"config": {"kind": "form", "access": "links"}}
        )
        assert (await visitor.about())["state"] == "link_needed"
        assert (await visitor.submit(who="Ada")).status_code == 404
        assert await occurrences(us, trigger["id"]) == []

    async def test_are_stored_as_hashes_only(self, us: Team) -> None:
        trigger = await form(us, access="links")
        made = await linked(us, trigger, count=3)
        assert len({link["path"] for link in made}) == 3
        async with us.database.reading() as session:
            rows = (await session.execute(text("SELECT * FROM trigger_links"))).all()
        for link in made:
            token = link["path"].rpartition("/")[2]
            assert token not in str(rows)
            assert links.hash_of(token) in str(rows)
            assert token not in json.dumps(await links_of(us, trigger))

    async def test_expire_and_are_revoked_until_they_are_used(
        self, us: Team, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trigger = await form(us, access="links")
        url = f"/triggers/{trigger['id']}/links"
        (soon,) = await linked(us, trigger, expires_at=(now() + timedelta(hours=1)).isoformat())
        (first,) = await linked(us, trigger)
        (second,) = await linked(us, trigger)
        past = await us.ask("publisher", "POST", url, json={"expires_at": (now() - timedelta(1)).isoformat()})
        assert past.status_code == 422
        opened = [await Visitor(http, link["path"]).opened() for link in (soon, first, second)]
        async with us.database.writing() as session:
            await session.execute(text("UPDATE trigger_links SET expires_at = 1 WHERE expires_at IS NOT NULL"))
        revoked = await us.ask("publisher", "DELETE", f"{url}/{first['id']}")
        assert revoked.json()["state"] == "revoked"
        assert (await us.ask("publisher", "DELETE", f"{url}/{first['id']}")).status_code == 200
        answers = [await visitor.submit(who="Ada") for visitor in opened]
        assert [answer.status_code for answer in answers] == [409, 409, 201]
        used = await us.ask("publisher", "DELETE", f"{url}/{second['id']}")
        assert (used.status_code, used.json()["code"]) == (409, "trigger_link_used")
        assert {link["state"] for link in await links_of(us, trigger)} == {"expired", "revoked", "used"}
        missing = await us.ask("publisher", "DELETE", f"{url}/{trigger['id']}")
        assert missing.json()["code"] == "trigger_link_not_found"
        monkeypatch.setattr(links, "MOST_OPEN", 1)
        assert (await us.ask("publisher", "POST", url, json={"count": 2})).json()["code"] == "too_many_triggers"

    async def test_belong_to_forms_and_those_who_manage_them(self, us: Team) -> None:
        trigger = await form(us)
        manual = await add(us, trigger["flow_id"], name="Hand", config={"kind": "manual"})
        refused = await us.ask("publisher", "POST", f"/triggers/{manual['id']}/links", json={})
        assert refused.json()["code"] == "trigger_invalid"
        for method, path in (("POST", ""), ("GET", ""), ("DELETE", f"/{trigger['id']}")):
            answer = await us.ask("runner", method, f"/triggers/{trigger['id']}/links{path}")
            assert answer.status_code == 403, (method, answer.text)
        await linked(us, trigger)
        async with us.database.reading() as session:
            rows = await session.execute(text("SELECT action FROM audit_events WHERE resource_kind = 'trigger'"))
            assert "trigger.links_created" in rows.scalars().all()

    async def test_that_are_settled_are_deleted_after_ninety_days(self, us: Team, settings: Settings) -> None:
        trigger = await form(us, access="links")
        await linked(us, trigger, count=2)
        kept = (await links_of(us, trigger))[0]["id"]
        async with us.database.writing() as session:
            change = text("UPDATE trigger_links SET revoked_at = 1 WHERE id <> :kept")
            await session.execute(change, {"kept": kept})
        await delete_old_occurrences(us.database, us.app.state.storage, settings.retention)
        assert [link["id"] for link in await links_of(us, trigger)] == [kept]


class TestBounds:
    async def test_of_one_address_and_of_its_runs(self, settings: Settings) -> None:
        rates = RateLimitSettings(widget_per_minute=3)
        async with team(settings, rate_limits=rates, quotas=QuotaSettings(visitor_runs_per_hour=1)) as us:
            trigger = await form(us)
            async with visiting(us) as http:
                visitor = await Visitor(http, trigger["path"]).opened()
                answers = [await visitor.submit(who=str(number)) for number in range(4)]
            assert [answer.status_code for answer in answers] == [201, 429, 429, 429]
            assert answers[1].json()["code"] == "quota_exceeded"
            assert answers[3].json()["code"] == "rate_limited"
            async with visiting(us, "198.51.100.9") as http:
                other = await Visitor(http, trigger["path"]).opened()
                assert (await other.submit(who="Eva")).status_code == 201
            assert len(await occurrences(us, trigger["id"])) == 2
