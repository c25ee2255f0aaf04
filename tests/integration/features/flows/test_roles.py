"""What each role may do with flows, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.audit.tables import AuditEvent
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.people import add_key, bearer
from tests.support.team import EVERYBODY, FLOW, Team, team

EDITORS = {"editor", "publisher", "owner", "admin"}
INSIDERS = {*EVERYBODY} - {"stranger"}


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


@pytest.fixture
async def flow(us: Team) -> dict[str, Any]:
    found: dict[str, Any] = await us.make("editor", "/flows", spec=FLOW)
    return found


class TestFlows:
    async def test_are_seen_by_who_sees_their_space(self, us: Team, flow: dict[str, Any]) -> None:
        one = f"/flows/{flow['id']}"
        for path in (one, f"{one}/export", f"{one}/versions", f"{one}/versions/draft..draft", f"{one}/graph"):
            assert await us.allowed("GET", path) == INSIDERS, path
        for who in EVERYBODY:
            listed = [item["id"] for item in (await us.get(who, "/flows"))["items"]]
            assert listed == ([] if who == "stranger" else [flow["id"]])
            found = [item["id"] for item in (await us.get(who, "/flows", params={"search": "talk"}))["items"]]
            assert found == listed

    async def test_of_a_space_that_one_does_not_see_are_as_if_they_were_not_there(
        self, us: Team, flow: dict[str, Any]
    ) -> None:
        await us.make("publisher", f"/flows/{flow['id']}/publish")
        for suffix in ("", "/export", "/versions", "/versions/1"):
            texts = []
            for flow_id in (flow["id"], new_id()):
                answer = await us.ask("stranger", "GET", f"/flows/{flow_id}{suffix}")
                assert answer.status_code == 404
                texts.append(answer.text.replace(flow_id, "x"))
            assert texts[0] == texts[1]

    async def test_are_listed_by_space_where_one_sees_it(self, us: Team, flow: dict[str, Any]) -> None:
        assert await us.allowed("GET", "/flows", params={"space_id": us.space}) == INSIDERS
        for space_id in (us.elsewhere, new_id()):
            answer = await us.ask("owner", "GET", "/flows", params={"space_id": space_id})
            assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")
        assert (await us.ask("admin", "GET", "/flows", params={"space_id": new_id()})).status_code == 404

    async def test_are_made_and_imported_by_editors_of_the_space(self, us: Team) -> None:
        inside = {"space_id": us.space}
        assert await us.allowed("POST", "/flows", json={"spec": FLOW} | inside) == EDITORS
        assert await us.allowed("POST", "/flows/import", json={"content": FLOW} | inside) == EDITORS
        hidden = await us.ask("owner", "POST", "/flows", json={"spec": FLOW, "space_id": us.elsewhere})
        assert (hidden.status_code, hidden.json()["code"]) == (404, "space_not_found")

    async def test_are_changed_by_editors(self, us: Team, flow: dict[str, Any]) -> None:
        one = f"/flows/{flow['id']}"
        assert await us.allowed("PATCH", one, json={"description": "Else"}) == EDITORS
        assert await us.allowed("POST", f"{one}/publish", json={}) == {"publisher", "owner", "admin"}
        seen: set[str] = set()
        for who in EVERYBODY:
            now = await us.get("viewer", one)
            definition = now["definition"] | {"description": who}
            body = {"revision": now["revision"], "definition": definition}
            status = (await us.ask(who, "PATCH", f"{one}/draft", json=body)).status_code
            assert status == (200 if who in EDITORS else 404 if who == "stranger" else 403)
            body = {"revision": (await us.get("viewer", one))["revision"]}
            if (await us.ask(who, "POST", f"{one}/versions/1/restore", json=body)).status_code == 200:
                seen.add(who)
        assert seen == EDITORS

    async def test_that_are_published_are_deleted_by_publishers(self, us: Team, flow: dict[str, Any]) -> None:
        draft = await us.make("editor", "/flows", spec=FLOW)
        await us.make("publisher", f"/flows/{flow['id']}/publish")
        refused = await us.ask("editor", "DELETE", f"/flows/{flow['id']}")
        assert (refused.status_code, refused.json()["permission"]) == (403, "flows.publish")
        assert (await us.ask("editor", "DELETE", f"/flows/{draft['id']}")).status_code == 204
        assert (await us.ask("publisher", "DELETE", f"/flows/{flow['id']}")).status_code == 204
        assert (await us.ask("viewer", "GET", f"/flows/{flow['id']}")).status_code == 404
        assert (await us.ask("viewer", "GET", f"/flows/{flow['id']}/versions/1")).status_code == 200
        assert (await us.ask("stranger", "GET", f"/flows/{flow['id']}/versions/1")).status_code == 404


class TestRunning:
    async def test_what_is_published_takes_a_runner_and_the_rest_an_editor(
        self, us: Team, flow: dict[str, Any]
    ) -> None:
        runs, runners = f"/flows/{flow['id']}/runs", EDITORS | {"runner"}
        assert await us.allowed("POST", runs, json={"text": "hi", "version": "draft"}) == EDITORS
        assert await us.allowed("POST", runs, json={"text": "hi", "version": 1}) == EDITORS
        unpublished = await us.answers("POST", runs, json={"text": "hi", "version": "published"})
        assert unpublished == {who: 404 if who in runners | {"stranger"} else 403 for who in EVERYBODY}
        await us.make("publisher", f"/flows/{flow['id']}/publish")
        for version in ("published", 1):
            assert await us.allowed("POST", runs, json={"text": "hi", "version": version}) == runners
        assert await us.allowed("POST", runs, json={"text": "hi", "version": "draft"}) == EDITORS

    async def test_takes_a_key_that_is_for_it_and_for_nothing_else(self, us: Team, flow: dict[str, Any]) -> None:
        await us.make("publisher", f"/flows/{flow['id']}/publish")
        key = bearer(await add_key(us.database, us.people["editor"], scopes=["runs.start"]))
        client = us.clients["editor"]
        client.headers.clear()
        runs = f"/flows/{flow['id']}/runs"
        started = await client.post(runs, headers=key, json={"text": "hi", "version": "published"})
        assert started.status_code < 300, started.text
        refused = await client.post(runs, headers=key, json={"text": "hi", "version": "draft"})
        assert (refused.status_code, refused.json()["permission"]) == (403, "runs.test")
        assert (await client.get(f"/flows/{flow['id']}", headers=key)).status_code == 403


class TestAuditLog:
    async def test_has_every_change_of_a_flow_and_no_draft(self, us: Team, flow: dict[str, Any]) -> None:
        one = f"/flows/{flow['id']}"
        await us.make("publisher", f"{one}/publish", notes="First")
        await us.make("publisher", f"{one}/publish")
        changed = flow["definition"] | {"description": "Only in the draft"}
        for _ in range(2):  # the second changes nothing
            revision = (await us.get("editor", one))["revision"]
            await us.ask("editor", "PATCH", f"{one}/draft", json={"revision": revision, "definition": changed})
        await us.ask("editor", "PATCH", one, json={"name": "Chat"})
        revision = (await us.get("editor", one))["revision"]
        await us.make("editor", f"{one}/versions/1/restore", revision=revision)
        await us.ask("editor", "DELETE", one)
        await us.ask("publisher", "DELETE", one)
        async with us.database.reading() as session:
            query = select(AuditEvent).where(AuditEvent.resource_id == flow["id"]).order_by(AuditEvent.seq)
            rows = list((await session.execute(query)).scalars())
        assert [row.action for row in rows] == [
            "flow.created",
            "flow.version_made",
            "flow.published",
            "flow.draft_saved",
            "flow.renamed",
            "flow.version_made",
            "flow.version_restored",
            "flow.deleted",
        ]
        assert {row.space_id for row in rows} == {us.space}
        saved, renamed = rows[3], rows[4]
        assert saved.before_digest == rows[0].after_digest
        assert renamed.before_digest == saved.after_digest
        assert rows[6].after_digest == rows[0].after_digest
        assert "Only in the draft" not in "".join(row.payload for row in rows)
