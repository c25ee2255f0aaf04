"""Feedback on answers of the chat, and the questions that editors make of it; on both databases."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.foundation.settings import Settings
from tests.integration.features.runs.chat.test_conversations import begin, flow_of, say
from tests.support.team import Team, team

ANSWER = (
    "name: Ask\nnodes:\n  heard: ChatInput\n  find: Retrieve\n    base: Handbook\n  said: ChatOutput\n"
    "edges:\n  heard.text -> find.query\n  find.text -> said.input\n"
)
QUESTION = "How many days of holiday?"


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as made:
        yield made


async def filled_base(house: Team) -> str:
    """A base in the space of the team with one document."""
    base: str = (await house.make("editor", "/knowledge-bases", name="Handbook", space_id=house.space))["id"]
    data = b"# Leave\n\nEmployees have 27 days of holiday each year."
    sent = await house.ask("editor", "POST", "/files", files={"file": ("leave.md", data)})
    document = await house.make("editor", f"/knowledge-bases/{base}/documents", file_id=sent.json()["id"])
    for _ in range(600):
        state = await house.get("editor", f"/knowledge-bases/{base}/documents/{document['id']}")
        if state["status"] == "ready":
            return base
        await asyncio.sleep(0.05)
    raise AssertionError("not indexed")


async def rate(house: Team, conversation: str, run_id: str, status: int = 200, who: str = "runner", **body: Any) -> Any:
    path = f"/chat/conversations/{conversation}/messages/{run_id}/feedback"
    answer = await house.ask(who, "PUT", path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


class TestRating:
    async def test_replaces_the_earlier_one_and_is_listed(self, house: Team) -> None:
        conversation = await begin(house, await flow_of(house))
        run_id = (await say(house, conversation, "hello"))["id"]
        await rate(house, conversation, run_id, helpful=True)
        second = await rate(house, conversation, run_id, helpful=False, correction="27 days")
        assert await house.get("runner", f"/chat/conversations/{conversation}/feedback") == [second]
        assert (second["helpful"], second["correction"]) == (False, "27 days")

    async def test_is_one_when_sent_several_times_at_once(self, house: Team) -> None:
        conversation = await begin(house, await flow_of(house))
        run_id = (await say(house, conversation, "hello"))["id"]
        await asyncio.gather(*(rate(house, conversation, run_id, helpful=True) for _ in range(6)))
        (only,) = await house.get("runner", f"/chat/conversations/{conversation}/feedback")
        assert only["helpful"]

    async def test_is_of_the_owner_of_the_conversation_and_its_messages(self, house: Team) -> None:
        flow_id = await flow_of(house)
        conversation, other = await begin(house, flow_id), await begin(house, flow_id)
        run_id = (await say(house, other, "hello"))["id"]
        assert (await rate(house, conversation, run_id, 404, helpful=True))["code"] == "chat_message_not_found"
        assert (await rate(house, conversation, "x", 404, helpful=True))["code"] == "chat_message_not_found"
        missing = await rate(house, other, run_id, 404, who="editor", helpful=True)
        assert missing["code"] == "conversation_not_found"

    async def test_is_recorded_without_its_correction(self, house: Team) -> None:
        conversation = await begin(house, await flow_of(house))
        run_id = (await say(house, conversation, "hello"))["id"]
        await rate(house, conversation, run_id, helpful=False, correction="top secret")
        events = str(await house.get("admin", "/audit", params={"action": "conversation.rated"}))
        assert run_id in events
        assert "top secret" not in events


class TestRatedAnswers:
    async def test_become_questions_of_the_base(self, house: Team) -> None:
        base = await filled_base(house)
        conversation = await begin(house, await flow_of(house, ANSWER))
        run_id = (await say(house, conversation, QUESTION))["id"]
        await rate(house, conversation, run_id, helpful=False, correction="27 days")
        page = await house.get("editor", f"/chat/feedback/{base}")
        (rated,) = page["items"]
        assert (rated["question"], rated["correction"], rated["helpful"]) == (QUESTION, "27 days", False)
        assert "27 days of holiday" in rated["answer"]
        assert [document["name"] for document in rated["documents"]] == ["leave.md"]
        ids = [document["id"] for document in rated["documents"]]
        body = {"question": rated["question"], "document_ids": ids, "answer": rated["correction"]}
        await house.make("editor", f"/knowledge-bases/{base}/questions", **body)
        gone = await house.ask("editor", "DELETE", f"/chat/feedback/{base}/{run_id}")
        assert gone.status_code == 204
        assert (await house.get("editor", f"/chat/feedback/{base}"))["items"] == []
        again = await house.ask("editor", "DELETE", f"/chat/feedback/{base}/{run_id}")
        assert again.json()["code"] == "chat_message_not_found"
        unstorable = await house.ask("editor", "DELETE", f"/chat/feedback/{base}/a%00b")
        assert unstorable.json()["code"] == "chat_message_not_found"

    async def test_are_for_editors_of_the_base(self, house: Team) -> None:
        base = await filled_base(house)
        for who, status in {"runner": 403, "viewer": 403, "stranger": 404, "owner": 200}.items():
            answer = await house.ask(who, "GET", f"/chat/feedback/{base}")
            assert answer.status_code == status, who
