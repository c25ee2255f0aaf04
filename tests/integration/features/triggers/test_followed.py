"""Triggers that follow other flows and events: whose rights, which classification, which runs, and an end of loops."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from headgate.features.access.permissions import Role
from headgate.features.accounts.tables import SpaceMember
from headgate.features.runs import service as runs
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.sent_events import exchange
from headgate.features.runs.sent_events.tables import SentEventRow
from headgate.features.triggers import firing, following, repository
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.settings import ClassificationSettings, RateLimitSettings, Settings
from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.support.team import FLOW, Team, team

pytestmark = pytest.mark.both_databases

SECRET_FLOW = "name: Payroll\nsettings:\n  input_classification: 2\n" + FLOW.partition("\n")[2]
SENDER = """name: Sender
nodes:
  heard: ChatInput
  send: SendEvent
    event: ping
  said: ChatOutput
edges:
  heard.text -> send.data
  send.value -> said.input
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    groups: dict[str, Any] = {"classification": ClassificationSettings(enabled=True)}
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), **groups) as people:
        yield people


async def run(us: Team, flow_id: str, who: str = "publisher", version: str = "published", **more: Any) -> str:
    body = {"text": "salary 100", "version": version, "wait": True, **more}
    return str((await us.make(who, f"/flows/{flow_id}/runs", **body))["id"])


async def changed(us: Team, flow_id: str, *, name: str, level: int | None = None) -> None:
    """Save another draft of a flow."""
    flow = await us.get("publisher", f"/flows/{flow_id}")
    definition = flow["definition"] | {"name": name}
    definition["settings"] = definition["settings"] | {"input_classification": level}
    body = {"revision": flow["revision"], "definition": definition}
    answer = await us.ask("publisher", "PATCH", f"/flows/{flow_id}/draft", json=body)
    assert answer.status_code == 200, answer.text


async def first_of(us: Team, trigger: dict[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = await until(lambda: occurrences(us, trigger["id"]))
    return rows[0]


class TestRights:
    async def test_of_the_owner_cover_the_followed_flow_when_it_fires(self, us: Team) -> None:
        """Who lost the right to view a flow must not read its results by a trigger that they added before."""
        async with us.database.writing() as session:
            publisher = us.people["publisher"]
            member = {"user_id": publisher.id, "tenant_id": publisher.tenant_id, "role": Role.VIEWER.value}
            session.add(SpaceMember(space_id=us.elsewhere, **member))
        made = await us.make("stranger", "/flows", spec=FLOW)
        assert (await us.ask("stranger", "POST", f"/flows/{made['id']}/publish", json={})).status_code == 200
        mine = await published(us)
        trigger = await add(us, mine, config={"kind": "flow", "flow_id": made["id"]})
        await run(us, made["id"], "stranger")
        assert (await first_of(us, trigger))["status"] == "started"
        async with us.database.writing() as session:
            await session.execute(
                text("DELETE FROM space_members WHERE space_id = :space AND user_id = :user"),
                {"space": us.elsewhere, "user": us.people["publisher"].id},
            )
        await run(us, made["id"], "stranger")

        async def two() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if len(rows) == 2 else None

        last = (await until(two))[1]
        assert (last["status"], last["reason"]) == ("skipped", "trigger_owner_gone")
        assert "no read access" in last["message"]


class TestClassifications:
    async def test_of_a_result_must_be_taken_by_the_flow(self, us: Team) -> None:
        followed, secret = await published(us, SECRET_FLOW), await published(us, SECRET_FLOW)
        public = await published(us)
        open_trigger = await add(us, public, config={"kind": "flow", "flow_id": followed})
        fixed = await add(us, public, name="Fixed", config={"kind": "flow", "flow_id": followed}, input={"text": "go"})
        closed = await add(us, secret, config={"kind": "flow", "flow_id": followed})
        await run(us, followed)
        refused = await first_of(us, open_trigger)
        assert (refused["status"], refused["reason"]) == ("skipped", "classification_refused")
        assert (await first_of(us, fixed))["status"] == "started"
        assert (await first_of(us, closed))["status"] == "started"

    async def test_of_an_event_must_be_taken_by_the_flow(self, us: Team) -> None:
        public = await published(us)
        trigger = await add(us, public, config={"kind": "event", "name": "ping"})
        sender = await published(us, SENDER.replace("nodes:", "settings:\n  input_classification: 2\nnodes:", 1))
        await run(us, sender)
        refused = await first_of(us, trigger)
        assert (refused["status"], refused["reason"]) == ("skipped", "classification_refused")

    async def test_are_checked_again_when_a_queued_one_starts(self, us: Team) -> None:
        followed, taking = await published(us, SECRET_FLOW), await published(us, SECRET_FLOW)
        policies = {"overlap": "queue_all", "rate_runs": 1, "rate_seconds": 86_400}
        trigger = await add(us, taking, config={"kind": "flow", "flow_id": followed}, policies=policies)
        await run(us, followed)
        await run(us, followed)

        async def queued() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if [row["status"] for row in rows] == ["started", "queued"] else None

        await until(queued)
        await changed(us, taking, name="Talk", level=0)
        assert (await us.ask("publisher", "POST", f"/flows/{taking}/publish", json={})).status_code == 200
        await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json={"policies": {"overlap": "queue_all"}})

        async def refused() -> Any:
            return (await occurrences(us, trigger["id"]))[1]["reason"] == "classification_refused"

        await until(refused)


class TestPolls:
    async def test_write_no_cursor_that_has_not_moved(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each trigger wrote its cursor each second."""
        polls, writes = [0], [0]
        list_events, skip = following._sent_events, firing.Firing.skip

        async def polled(*arguments: Any) -> Any:
            polls[0] += 1
            return await list_events(*arguments)

        async def written(*arguments: Any) -> None:
            writes[0] += 1
            await skip(*arguments)

        monkeypatch.setattr(following, "_sent_events", polled)
        monkeypatch.setattr(firing.Firing, "skip", written)
        trigger = await add(us, await published(us), config={"kind": "event", "name": "ping"})

        async def thrice() -> bool:
            return polls[0] >= 3

        await until(thrice)
        assert writes == [0]
        async with us.database.writing() as session:
            change = update(TriggerRow).where(TriggerRow.id == trigger["id"])
            await session.execute(change.values(cursor_at=TriggerRow.cursor_at - 3_600_000_000))

        async def moved() -> bool:
            return writes[0] == 1

        await until(moved)


class TestFollowing:
    async def test_ignores_runs_of_drafts_and_parts(self, us: Team) -> None:
        followed, mine = await published(us), await published(us)
        trigger = await add(us, mine, config={"kind": "flow", "flow_id": followed})
        await changed(us, followed, name="Talk more")
        await run(us, followed, version="draft", only_step="heard")
        await run(us, followed, version="draft")
        released = await run(us, followed)
        assert (await first_of(us, trigger))["key"] == f"run:{released}"
        assert len(await occurrences(us, trigger["id"])) == 1

    async def test_ignores_a_draft_that_is_published_afterwards_and_test_cases(self, us: Team) -> None:
        followed, mine = await published(us), await published(us)
        trigger = await add(us, mine, config={"kind": "flow", "flow_id": followed})
        await changed(us, followed, name="Talk more")
        await run(us, followed, version="draft")
        assert (await us.ask("publisher", "POST", f"/flows/{followed}/publish", json={})).status_code == 200
        async with us.database.reading() as session:
            listed = await repository.find_claimed(session, trigger["id"])
        assert listed is not None
        owner = await us.app.state.firing.owner_of(listed.row, us.space)
        start = RunStart(text="a case", version="published")
        engine = us.app.state.engine
        key = await runs.start_run(us.database, engine, owner, followed, start, is_test=True)
        await runs.wait_for_run(engine, key.run_id)

        async def two() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if len(rows) == 2 else None

        assert [row["reason"] for row in await until(two)] == ["run_of_test"] * 2

    async def test_counts_as_received(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        """Events that only triggers receive filled the space, until none could be sent any more."""
        monkeypatch.setattr(exchange, "MOST_KEPT", 1)
        policies = {"overlap": "allow", "limit": 50}
        await add(us, await published(us), config={"kind": "event", "name": "ping"}, policies=policies)
        for number in range(1, 4):
            await us.make("runner", "/events", name="ping", data=number, space_id=us.space, correlation="a")

            async def followed(number: int = number) -> bool:
                async with us.database.reading() as session:
                    query = select(func.count()).where(SentEventRow.followed.is_(True))
                    return (await session.execute(query)).scalar_one() == number

            await until(followed)

    async def test_ends_a_loop_of_flows(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(firing, "MOST_FOLLOWING", 3)
        one, other = await published(us), await published(us)
        policies = {"overlap": "allow", "limit": 50}
        first = await add(us, other, config={"kind": "flow", "flow_id": one}, policies=policies)
        second = await add(us, one, config={"kind": "flow", "flow_id": other}, policies=policies)
        await run(us, one)

        async def ended() -> Any:
            rows = [*await occurrences(us, first["id"]), *await occurrences(us, second["id"])]
            return rows if any(row["reason"] == "trigger_loop" for row in rows) else None

        rows = await until(ended)
        assert sorted(row["status"] for row in rows) == ["skipped", "started", "started", "started"]

    async def test_ends_a_loop_of_events(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(firing, "MOST_FOLLOWING", 2)
        sender = await published(us, SENDER)
        policies = {"overlap": "allow", "limit": 50}
        trigger = await add(us, sender, config={"kind": "event", "name": "ping"}, policies=policies)
        await run(us, sender)

        async def ended() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if any(row["reason"] == "trigger_loop" for row in rows) else None

        assert [row["status"] for row in await until(ended)] == ["started", "started", "skipped"]
