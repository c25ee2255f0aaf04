"""Triggers in the file of a flow."""

from typing import Any

import orjson

from tests.integration.features.triggers.conftest import add, published
from tests.support.team import Team

FEED = {"kind": "feed", "url": "https://news.example.org/feed", "text_from": "title", "every_seconds": 600}


async def exported(us: Team, flow_id: str) -> dict[str, Any]:
    shown = await us.get("publisher", f"/flows/{flow_id}/export", params={"format": "json"})
    content: dict[str, Any] = orjson.loads(shown["content"])
    return content


async def imported(us: Team, content: Any, who: str = "publisher") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Import a file; returns the flow and its triggers, oldest first."""
    flow = await us.make(who, "/flows/import", content=orjson.dumps(content).decode(), space_id=us.space)
    rows = (await us.get(who, "/triggers", params={"flow_id": flow["id"]}))["items"]
    return flow, list(reversed(rows))


class TestTransfer:
    async def test_carries_triggers_without_secrets_and_switched_off(self, us: Team) -> None:
        flow_id = await published(us)
        await add(
            us,
            flow_id,
            name="News",
            enabled=False,
            config=FEED,
            policies={"overlap": "queue_all"},
            input={"text": "hi"},
        )
        hook = await add(us, flow_id, name="Calls", config={"kind": "webhook", "verification": "key"})
        content = await exported(us, flow_id)
        assert hook["secret"] not in orjson.dumps(content).decode()
        assert hook["path"].rsplit("/", 1)[1] not in orjson.dumps(content).decode()
        report = await us.make("editor", "/flows/import/report", content=orjson.dumps(content).decode())
        assert [(one["name"], one["kind"], one["url"]) for one in report["triggers"]] == [
            ("News", "feed", FEED["url"]),
            ("Calls", "webhook", ""),
        ]
        flow, rows = await imported(us, content)
        assert [(row["name"], row["kind"], row["enabled"]) for row in rows] == [
            ("News", "feed", False),
            ("Calls", "webhook", False),
        ]
        assert rows[0]["config"]["text_from"] == "title"
        assert rows[0]["policies"]["overlap"] == "queue_all"
        assert rows[0]["input"]["text"] == "hi"
        assert rows[0]["owner_user_id"] == us.people["publisher"].id
        assert rows[1]["path"] != hook["path"]
        assert flow["notes"] == ["Trigger 'Calls' has a new secret: set the one of the other service."]

    async def test_as_text_and_with_the_line_of_what_is_wrong(self, us: Team) -> None:
        flow_id = await published(us)
        feed = FEED | {"pause_after_errors": None}
        await add(us, flow_id, name="The news", enabled=False, config=feed, policies={"limit": 2}, input={"text": "hi"})
        hook = await add(us, flow_id, name="Calls", config={"kind": "webhook", "verification": "github"})
        text = (await us.get("publisher", f"/flows/{flow_id}/export", params={"format": "spec"}))["content"]
        assert hook["secret"] not in text
        assert hook["path"].rsplit("/", 1)[1] not in text
        report = await us.make("editor", "/flows/import/report", content=text)
        assert [(row["name"], row["kind"]) for row in report["triggers"]] == [
            ("The news", "feed"),
            ("Calls", "webhook"),
        ]
        before = (await us.get("publisher", "/triggers", params={"flow_id": flow_id}))["items"]
        for path, body in (("/flows/import", {"content": text}), ("/flows", {"spec": text})):
            flow = await us.make("publisher", path, **body, space_id=us.space)
            rows = (await us.get("publisher", "/triggers", params={"flow_id": flow["id"]}))["items"]
            kept = ("name", "config", "policies", "input")
            assert [[row[name] for name in kept] for row in rows] == [[row[name] for name in kept] for row in before]
            assert not any(row["enabled"] for row in rows)
            assert flow["notes"] == ["Trigger 'Calls' has a new secret: set the one of the other service."]
        number = text.splitlines().index("    verification: github") + 1
        wrong = {"content": text.replace("verification: github", "verification: gitbub"), "space_id": us.space}
        count = len((await us.get("publisher", "/flows"))["items"])
        refused = await us.ask("publisher", "POST", "/flows/import", json=wrong)
        assert refused.status_code == 422
        assert refused.json()["issues"][0]["line"] == number
        assert len((await us.get("publisher", "/flows"))["items"]) == count

    async def test_says_what_it_omits(self, us: Team) -> None:
        flow_id = await published(us)
        await add(us, flow_id, name="News", config=FEED, enabled=False)
        content = await exported(us, flow_id)
        news = content["triggers"][0]
        content["triggers"] = [
            news | {"enabled": True, "secret": "x" * 20},
            news,
            "no trigger",
            {"name": "Fax", "config": {}},
        ]
        flow, rows = await imported(us, content)
        assert [(row["name"], row["enabled"]) for row in rows] == [("News", False)]
        assert [note.partition(" was omitted")[0] for note in flow["notes"]] == [
            "Trigger 'News'",
            "Trigger 3",
            "Trigger 'Fax'",
        ]
        flow, rows = await imported(us, await exported(us, flow_id), "editor")
        assert rows == []
        assert "was omitted" in flow["notes"][0]

    async def test_refuses_more_than_a_flow_has(self, us: Team) -> None:
        content = await exported(us, await published(us))
        assert "triggers" not in content
        content["triggers"] = [{}] * 101
        body = {"content": orjson.dumps(content).decode(), "space_id": us.space}
        assert (await us.ask("publisher", "POST", "/flows/import", json=body)).status_code == 422
