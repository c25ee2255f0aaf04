"""Conversations with published flows, on both databases: of their owner alone, read back from runs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.files.storage import Storage
from headgate.features.maintenance.retention import delete_expired_runs
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.foundation.settings import RetentionSettings, Settings
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team

FORM = FLOW + "form:\n  city: text\n"
FILES = (
    "name: Read\nnodes:\n  heard: ChatInput\n  file: FileInput\n  read: ReadFile\n  said: ChatOutput\n"
    "edges:\n  file.file -> read.file\n  heard.message -> said.input\n"
)
UNASKED = "name: Say\nnodes:\n  words: TextInput\n  said: ChatOutput\nedges:\n  words.text -> said.input\n"
APPROVAL = (
    "name: Ask\nnodes:\n  heard: ChatInput\n  check: Approval\n    question: Pay it?\n  said: ChatOutput\n"
    "edges:\n  heard.text -> check.value\n  check.approve -> said.input\n"
)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def flow_of(house: Team, spec: str = FLOW, *, published: bool = True) -> str:
    flow_id: str = (await house.make("publisher", "/flows", spec=spec))["id"]
    if published:
        await house.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def begin(house: Team, flow_id: str, who: str = "runner") -> str:
    conversation_id: str = (await house.make(who, "/chat/conversations", flow_id=flow_id))["id"]
    return conversation_id


async def say(house: Team, conversation_id: str, message: str, who: str = "runner", **more: Any) -> dict[str, Any]:
    path = f"/chat/conversations/{conversation_id}/messages"
    run: dict[str, Any] = await house.make(who, path, text=message, wait=True, **more)
    return run


async def listed(house: Team, flow_id: str, who: str = "runner", **params: Any) -> list[dict[str, Any]]:
    page = await house.get(who, "/chat/conversations", params={"flow_id": flow_id, **params})
    items: list[dict[str, Any]] = page["items"]
    return items


class TestFlows:
    async def test_are_listed_when_published_with_a_chat_input_and_no_form(self, house: Team) -> None:
        flow_id = await flow_of(house)
        for spec in (FORM, UNASKED):
            await flow_of(house, spec)
        await flow_of(house, FLOW, published=False)
        counts = {}
        for who in ("runner", "owner", "admin", "stranger", "viewer"):
            answer = await house.ask(who, "GET", "/chat/flows")
            counts[who] = [flow["id"] for flow in answer.json()["items"]] if answer.status_code == 200 else []
        assert counts == {"runner": [flow_id], "owner": [flow_id], "admin": [flow_id], "stranger": [], "viewer": []}

    async def test_are_found_by_words_of_their_name(self, house: Team) -> None:
        await flow_of(house)
        found = [
            len((await house.get("runner", "/chat/flows", params={"search": search}))["items"])
            for search in ("TAL", "tal ta", "100%", "nothing")
        ]
        assert found == [1, 1, 0, 0]

    async def test_say_whether_they_take_files(self, house: Team) -> None:
        plain = FLOW.replace("heard.message", "heard.text")
        found = [
            (await house.get("runner", f"/chat/flows/{await flow_of(house, spec)}"))["takes_files"]
            for spec in (FLOW, FILES, plain)
        ]
        assert found == [True, True, False]

    async def test_suggest_the_questions_of_the_published_version(self, house: Team) -> None:
        flow_id = await flow_of(house)
        flow = await house.get("publisher", f"/flows/{flow_id}")
        definition = flow["definition"]
        for widget, publishes in (
            ({"questions": ["How long?"], "welcome_text": "Hej"}, True),
            ({"questions": ["x" * 201]}, False),
            ({"questions": ["x"] * 7}, False),
        ):
            definition["settings"] = {"widget": widget}
            body = {"revision": flow["revision"], "definition": definition}
            flow = (await house.ask("publisher", "PATCH", f"/flows/{flow_id}/draft", json=body)).json()
            answer = await house.ask("publisher", "POST", f"/flows/{flow_id}/publish", json={})
            assert answer.is_success is publishes, answer.text
        shown = await house.get("runner", f"/chat/flows/{flow_id}")
        assert (shown["welcome_text"], shown["questions"]) == ("Hej", ["How long?"])

    @pytest.mark.parametrize(
        ("spec", "published", "status", "code"),
        [(FORM, True, 422, "not_a_chat"), (UNASKED, True, 422, "not_a_chat"), (FLOW, False, 404, "version_not_found")],
    )
    async def test_that_cannot_be_chatted_with_say_why(
        self, house: Team, spec: str, published: bool, status: int, code: str
    ) -> None:
        flow_id = await flow_of(house, spec, published=published)
        for answer in (
            await house.ask("runner", "GET", f"/chat/flows/{flow_id}"),
            await house.ask("runner", "POST", "/chat/conversations", json={"flow_id": flow_id}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (status, code)
            assert answer.json()["remedy"]


class TestMessages:
    async def test_are_runs_of_the_published_version_in_one_session(self, house: Team) -> None:
        conversation_id = await begin(house, flow_id := await flow_of(house))
        first = await say(house, conversation_id, "hej")
        second = await say(house, conversation_id, "again")
        assert (first["text"], first["session_id"], first["flow_id"]) == ("hej", conversation_id, flow_id)
        page = await house.get("runner", f"/chat/conversations/{conversation_id}/messages")
        assert [run["id"] for run in page["items"]] == [second["id"], first["id"]]
        assert [run["input"]["text"] for run in page["items"]] == ["again", "hej"]
        page = await house.get("runner", f"/chat/conversations/{conversation_id}/messages", params={"limit": 1})
        more = {"cursor": page["next_cursor"]}
        page = await house.get("runner", f"/chat/conversations/{conversation_id}/messages", params=more)
        assert ([run["id"] for run in page["items"]], page["next_cursor"]) == ([first["id"]], None)

    async def test_are_read_at_once(self, house: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        conversation_id = await begin(house, await flow_of(house))
        for message in ("one", "two", "three"):
            await say(house, conversation_id, message)

        async def refused(*_: object) -> None:
            raise AssertionError("run after run")

        for store in (SqliteRunStore, PostgresRunStore):
            monkeypatch.setattr(store, "read", refused)
        page = await house.get("runner", f"/chat/conversations/{conversation_id}/messages")
        assert [run["text"] for run in page["items"]] == ["three", "two", "one"]

    async def test_name_the_conversation_and_move_it_to_the_top(self, house: Team) -> None:
        flow_id = await flow_of(house)
        old, new = await begin(house, flow_id), await begin(house, flow_id)
        assert [(one["id"], one["title"]) for one in await listed(house, flow_id)] == [(new, ""), (old, "")]
        await say(house, old, "Where is\n  the handbook?" + " please" * 50)
        await say(house, old, "Thanks")
        [first, _] = await listed(house, flow_id)
        assert first["id"] == old
        assert first["title"].startswith("Where is the handbook? please")
        assert len(first["title"]) == 80

    async def test_with_the_same_key_are_sent_once(self, house: Team) -> None:
        conversation_id = await begin(house, await flow_of(house))
        path, headers = f"/chat/conversations/{conversation_id}/messages", {"Idempotency-Key": "abcdefgh-1234"}
        sent = [
            (await house.ask("runner", "POST", path, json={"text": "hej", "wait": True}, headers=headers)).json()["id"]
            for _ in range(2)
        ]
        assert sent[0] == sent[1]

    async def test_answer_that_they_wait_for_an_approval(self, house: Team) -> None:
        conversation_id = await begin(house, await flow_of(house, APPROVAL))
        path = f"/chat/conversations/{conversation_id}/messages"
        answer = await house.ask("runner", "POST", path, json={"text": "hej", "wait": True})
        assert (answer.status_code, answer.json()["waits_for"]["reason"]) == (202, "approval")

    @pytest.mark.parametrize("body", [{}, {"text": "  "}, {"text": "x" * 200_001}, {"text": "a\0"}, {"texts": "x"}])
    async def test_are_refused_without_content_or_too_long(self, house: Team, body: dict[str, Any]) -> None:
        conversation_id = await begin(house, await flow_of(house))
        answer = await house.ask("runner", "POST", f"/chat/conversations/{conversation_id}/messages", json=body)
        assert answer.status_code == 422

    async def test_take_no_file_that_the_user_may_not_view(self, house: Team) -> None:
        conversation_id = await begin(house, await flow_of(house))
        file = {"file": ("plan.txt", b"private", "text/plain")}
        ids = {who: (await house.ask(who, "POST", "/files", files=file)).json()["id"] for who in ("runner", "owner")}
        path, sent = f"/chat/conversations/{conversation_id}/messages", {}
        for who, file_id in ids.items():
            sent[who] = (await house.ask("runner", "POST", path, json={"file_ids": [file_id]})).status_code
        assert sent == {"runner": 201, "owner": 404}
        [run] = (await house.get("runner", path))["items"]
        assert run["input"]["file_ids"] == [ids["runner"]]

    async def test_of_others_in_a_session_of_that_name_are_not_shown(self, house: Team) -> None:
        conversation_id = await begin(house, flow_id := await flow_of(house))
        await say(house, conversation_id, "mine")
        body = {"text": "theirs", "session_id": conversation_id, "version": "published", "wait": True}
        await house.make("editor", f"/flows/{flow_id}/runs", **body)
        page = await house.get("runner", f"/chat/conversations/{conversation_id}/messages")
        assert [run["input"]["text"] for run in page["items"]] == ["mine"]


class TestConversations:
    async def test_are_read_and_changed_by_their_owner_alone(self, house: Team) -> None:
        conversation_id = await begin(house, flow_id := await flow_of(house))
        await say(house, conversation_id, "secret plan")
        path = f"/chat/conversations/{conversation_id}"
        for who in ("owner", "admin", "editor", "stranger"):
            assert who == "stranger" or await listed(house, flow_id, who) == []
            for method, below, body in (
                ("GET", "/messages", None),
                ("POST", "/messages", {"text": "hej"}),
                ("PATCH", "", {"title": "x"}),
                ("DELETE", "", None),
            ):
                answer = await house.ask(who, method, path + below, json=body)
                assert (answer.status_code, answer.json()["code"]) == (404, "conversation_not_found")
        assert [one["title"] for one in await listed(house, flow_id)] == ["secret plan"]

    async def test_are_renamed_found_and_deleted(self, house: Team) -> None:
        conversation_id = await begin(house, flow_id := await flow_of(house))
        run = await say(house, conversation_id, "hej")
        path = f"/chat/conversations/{conversation_id}"
        answer = await house.ask("runner", "PATCH", path, json={"title": "  Handbook 100% "})
        assert (answer.status_code, answer.json()["title"]) == (200, "Handbook 100%")
        await say(house, conversation_id, "more")
        found = [len(await listed(house, flow_id, search=search)) for search in ("HAND", "0%", "_", "hej")]
        assert found == [1, 1, 0, 0]
        assert (await house.ask("runner", "DELETE", path)).status_code == 204
        assert await listed(house, flow_id) == []
        assert (await house.ask("runner", "DELETE", path)).status_code == 404
        assert (await house.get("runner", f"/flow-runs/{run['id']}"))["text"] == "hej"

    @pytest.mark.parametrize("title", ["", "  ", "x" * 201, "a\0b"])
    async def test_take_no_empty_or_endless_title(self, house: Team, title: str) -> None:
        conversation_id = await begin(house, await flow_of(house))
        answer = await house.ask("runner", "PATCH", f"/chat/conversations/{conversation_id}", json={"title": title})
        assert answer.status_code == 422

    async def test_are_listed_page_by_page(self, house: Team) -> None:
        flow_id = await flow_of(house)
        ids = [await begin(house, flow_id) for _ in range(3)]
        page = await house.get("runner", "/chat/conversations", params={"flow_id": flow_id, "limit": 2})
        assert [one["id"] for one in page["items"]] == [ids[2], ids[1]]
        assert [one["id"] for one in await listed(house, flow_id, cursor=page["next_cursor"])] == [ids[0]]

    async def test_are_recorded_without_their_titles(self, house: Team) -> None:
        conversation_id = await begin(house, flow_id := await flow_of(house))
        path = f"/chat/conversations/{conversation_id}"
        await house.ask("runner", "PATCH", path, json={"title": "Merger with Acme"})
        await house.ask("runner", "DELETE", path)
        events = (await house.get("admin", "/audit", params={"limit": 20}))["items"]
        actions = [event["action"] for event in events if event["resource"]["id"] == conversation_id]
        assert actions == ["conversation.deleted", "conversation.renamed", "conversation.created"]
        assert "Acme" not in str(events)
        named = {event["resource"]["name"] for event in events if event["resource"]["id"] == conversation_id}
        assert named == {(await house.get("admin", f"/flows/{flow_id}"))["name"]}

    async def test_are_deleted_with_their_user(self, house: Team) -> None:
        conversation_id = await begin(house, await flow_of(house))
        await say(house, conversation_id, "hej")
        answer = await house.ask("admin", "DELETE", f"/users/{house.people['runner'].id}")
        assert answer.status_code == 204, answer.text
        assert await _count(house) == 0


class TestRetention:
    async def test_deletes_a_conversation_with_its_last_run(self, house: Team) -> None:
        flow_id = await flow_of(house)
        gone, half, unused = [await begin(house, flow_id) for _ in range(3)]
        runs = [(await say(house, one, "old words"))["id"] for one in (gone, half)]
        await say(house, half, "new")
        week = 8 * 86_400 * 1_000_000
        for run_id in runs:
            await execute(
                house.database, f"UPDATE flow_runs SET finished_at = finished_at - {week} WHERE id = :id", id=run_id
            )
        await execute(
            house.database, f"UPDATE flow_conversations SET used_at = used_at - {week} WHERE id = :id", id=gone
        )
        storage: Storage = house.app.state.storage
        await delete_expired_runs(house.database, storage, RetentionSettings(run_days=7), dry=True)
        assert await _count(house) == 3
        await delete_expired_runs(house.database, storage, RetentionSettings(run_days=7))
        assert {one["id"] for one in await listed(house, flow_id)} == {half, unused}


async def _count(house: Team) -> int:
    async with house.database.reading() as session:
        return int((await session.execute(text("SELECT count(*) FROM flow_conversations"))).scalar_one())
