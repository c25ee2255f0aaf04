"""Comments on flows with mentions, and who has a flow open, on both databases."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.flows.live import topic_of
from headgate.features.flows.presence import Presence
from headgate.foundation.events import EventBus
from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as team_client:
        yield team_client


@pytest.fixture
async def flow_id(us: Team) -> str:
    made: str = (await us.make("editor", "/flows", spec=FLOW))["id"]
    return made


async def say(us: Team, who: str, flow_id: str, text: str = "Why so late?", **more: Any) -> Any:
    return await us.make(who, f"/flows/{flow_id}/comments", text=text, **more)


async def listed(us: Team, flow_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await us.get("viewer", f"/flows/{flow_id}/comments"))["items"]
    return items


class TestComments:
    async def test_are_on_a_flow_or_on_a_node_and_mention_members(self, us: Team, flow_id: str) -> None:
        editor = us.people["editor"].id
        first = await say(us, "viewer", flow_id, node_id="heard", mentions=[editor, editor])
        second = await say(us, "editor", flow_id, "  Because.  ")
        assert await listed(us, flow_id) == [first, second]
        assert (first["node_id"], [one["user_id"] for one in first["mentions"]]) == ("heard", [editor])
        assert (second["node_id"], second["text"], second["author"]["user_id"]) == (None, "Because.", editor)

    async def test_are_for_users_who_see_the_flow(self, us: Team, flow_id: str) -> None:
        path = f"/flows/{flow_id}/comments"
        everybody = {"viewer", "runner", "editor", "publisher", "owner", "admin"}
        assert await us.allowed("POST", path, json={"text": "Hello"}) == everybody
        assert await us.allowed("GET", path) == everybody

    async def test_mention_nobody_outside_the_space(self, us: Team, flow_id: str) -> None:
        body = {"text": "Look", "mentions": [us.people["stranger"].id]}
        refused = await us.ask("editor", "POST", f"/flows/{flow_id}/comments", json=body)
        assert (refused.status_code, refused.json()["code"]) == (404, "member_not_found")
        assert await listed(us, flow_id) == []

    async def test_are_changed_by_their_author_only(self, us: Team, flow_id: str) -> None:
        path = f"/flows/{flow_id}/comments/{(await say(us, 'editor', flow_id))['id']}"
        refused = await us.ask("owner", "PATCH", path, json={"text": "Never"})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_the_author")
        changed = await us.ask("editor", "PATCH", path, json={"text": "Why?", "mentions": [us.people["viewer"].id]})
        assert (changed.json()["text"], len(changed.json()["mentions"])) == ("Why?", 1)
        assert changed.json()["edited_at"] is not None

    async def test_are_resolved_and_reopened_by_anyone_who_comments(self, us: Team, flow_id: str) -> None:
        path = f"/flows/{flow_id}/comments/{(await say(us, 'editor', flow_id))['id']}"
        assert (await us.ask("viewer", "PATCH", path, json={"resolved": True})).json()["resolved_at"] is not None
        assert (await us.ask("runner", "PATCH", path, json={"resolved": False})).json()["resolved_at"] is None

    async def test_are_deleted_by_their_author_or_who_manages_the_space(self, us: Team, flow_id: str) -> None:
        first, second = [(await say(us, "editor", flow_id))["id"] for _ in range(2)]
        path = f"/flows/{flow_id}/comments"
        assert (await us.ask("publisher", "DELETE", f"{path}/{first}")).status_code == 403
        assert (await us.ask("editor", "DELETE", f"{path}/{first}")).status_code == 204
        assert (await us.ask("owner", "DELETE", f"{path}/{second}")).status_code == 204
        assert (await us.ask("owner", "DELETE", f"{path}/{second}")).json()["code"] == "comment_not_found"
        assert await listed(us, flow_id) == []

    async def test_of_another_flow_are_not_found(self, us: Team, flow_id: str) -> None:
        other = (await us.make("editor", "/flows", spec=FLOW))["id"]
        comment = (await say(us, "editor", other))["id"]
        refused = await us.ask("editor", "PATCH", f"/flows/{flow_id}/comments/{comment}", json={"resolved": True})
        assert refused.json()["code"] == "comment_not_found"

    async def test_are_in_the_audit_log_without_their_text(self, us: Team, flow_id: str) -> None:
        await say(us, "editor", flow_id, "A secret plan")
        entries = (await us.get("admin", "/audit", params={"resource_id": flow_id}))["items"]
        (entry,) = [one for one in entries if one["action"] == "flow.comment_added"]
        assert "secret plan" not in str(entry)

    async def test_stay_when_their_author_is_deleted(self, us: Team, flow_id: str) -> None:
        await say(us, "viewer", flow_id, mentions=[us.people["editor"].id])
        for who in ("viewer", "editor"):
            await us.ask("admin", "DELETE", f"/users/{us.people[who].id}")
        (comment,) = (await us.get("owner", f"/flows/{flow_id}/comments"))["items"]
        assert (comment["author"]["name"], comment["mentions"][0]["name"]) == ("Deleted user", "Deleted user")

    @pytest.mark.parametrize("text", ["", "   ", "x" * 4001])
    async def test_have_a_text(self, us: Team, flow_id: str, text: str) -> None:
        refused = await us.ask("editor", "POST", f"/flows/{flow_id}/comments", json={"text": text})
        assert refused.status_code == 422


class TestPresence:
    async def test_is_announced_while_a_stream_is_open(self) -> None:
        bus = EventBus()

        async def stream() -> AsyncGenerator[int, None]:
            yield 1
            yield 2

        async with bus.follow(topic_of("a")) as reader:
            events = Presence(bus, LOCAL, "a").during(stream())
            assert await anext(events) == 1
            (present,) = reader.pending()
            assert (present.kind, present.data["by"]) == (
                "present",
                {"kind": "user", "name": "Local user", "user_id": LOCAL.user_id},
            )
            assert await anext(events) == 2
            assert list(reader.pending()) == []
            await events.aclose()
            (left,) = reader.pending()
            assert (left.kind, left.data["reader"]) == ("left", present.data["reader"])

    async def test_is_repeated_for_readers_that_come_later(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.features.flows.presence.REPEAT_SECONDS", 0.01)
        bus = EventBus()
        async with bus.follow(topic_of("a")) as reader:
            presence = Presence(bus, LOCAL, "a")
            presence.repeat()
            presence.repeat()
            await asyncio.sleep(0.02)
            presence.repeat()
            assert [event.kind for event in reader.pending()] == ["present", "present"]
