"""Triggers that do not fit the form of their flow: shown when they are saved and enabled, and when it is published."""

from typing import Any

from tests.integration.features.triggers.conftest import add
from tests.support.team import Team

FLOW = "name: Orders\nnodes:\n  ask: ChatInput\n  out: ChatOutput\nedges:\n  ask.text -> out.input\n"
FORM = "form:\n  customer: text\n    required: true\n"
FEED = {"kind": "feed", "url": "http://127.0.0.1:9/feed"}


async def made(us: Team, spec: str) -> str:
    flow = await us.make("publisher", "/flows", spec=spec, space_id=us.space)
    return str(flow["id"])


async def publish(us: Team, flow_id: str) -> list[str]:
    answer = await us.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
    assert answer.status_code == 200, answer.text
    notes: list[str] = answer.json()["notes"]
    return notes


class TestProblems:
    async def test_are_shown_when_saved_enabled_and_published(self, us: Team) -> None:
        flow_id = await made(us, FLOW)
        assert await publish(us, flow_id) == []
        trigger = await add(us, flow_id, name="News", config=FEED)
        off = await add(us, flow_id, name="Off", config=FEED, enabled=False)
        assert (trigger["problems"], off["problems"]) == ([], [])
        shown: dict[str, Any] = await us.get("publisher", f"/flows/{flow_id}")
        form = [{"id": "customer", "type": "text", "required": True}]
        body = {"revision": shown["revision"], "definition": shown["definition"] | {"form": form}}
        saved = await us.ask("publisher", "PATCH", f"/flows/{flow_id}/draft", json=body)
        assert saved.status_code == 200, saved.text
        assert (await us.get("publisher", f"/triggers/{trigger['id']}"))["problems"] == [], "the published one has none"
        (note,) = await publish(us, flow_id)
        assert note.startswith("Trigger 'News': The form field 'customer' requires an answer.")
        (problem,) = (await us.get("publisher", f"/triggers/{trigger['id']}"))["problems"]
        assert problem["field"] == "form_from.customer"
        assert problem["remedy"]
        rows = (await us.get("publisher", "/triggers", params={"flow_id": flow_id}))["items"]
        assert [len(row["problems"]) for row in rows] == [1, 1]
        on = await us.ask("publisher", "POST", f"/triggers/{off['id']}/resume")
        assert len(on.json()["problems"]) == 1
        change = {"config": FEED | {"form_from": {"customer": "autor"}}}
        changed = await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json=change)
        assert "did you mean 'author'?" in changed.json()["problems"][0]["message"]
        change = {"config": FEED | {"form_from": {"customer": "author"}}}
        changed = await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json=change)
        assert changed.json()["problems"] == []

    async def test_of_an_unpublished_flow_are_those_of_its_draft(self, us: Team) -> None:
        trigger = await add(us, await made(us, FLOW + FORM), name="News", config=FEED)
        assert [problem["field"] for problem in trigger["problems"]] == ["form_from.customer"]

    async def test_of_the_text_of_a_chat_input_are_shown_when_saved_enabled_and_published(self, us: Team) -> None:
        flow_id = await made(us, FLOW)
        yearly = {"kind": "schedule", "cron": "0 3 1 1 *"}
        trigger = await add(us, flow_id, name="Yearly", config=yearly)
        assert [problem["field"] for problem in trigger["problems"]] == ["input.text"]
        (note,) = await publish(us, flow_id)
        assert note.startswith("Trigger 'Yearly': A chat or text input of the flow reads the text of the run")
        path = f"/triggers/{trigger['id']}"
        await us.make("publisher", f"{path}/pause", reason="later")
        assert len((await us.make("publisher", f"{path}/resume"))["problems"]) == 1
        saved = await us.ask("publisher", "PATCH", path, json={"input": {"text": "Report of the year"}})
        assert saved.json()["problems"] == []
        hook = {"kind": "webhook", "verification": "none", "text_from": "headers"}
        (problem,) = (await add(us, flow_id, name="Hook", config=hook))["problems"]
        assert (problem["field"], "an object" in problem["message"]) == ("text_from", True)
