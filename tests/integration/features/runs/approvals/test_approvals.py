"""Approvals in the real application, on both databases."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.support.team import Team, team

PATIENCE = 30.0
FORM = [
    {"id": "centre", "label": "Cost centre", "type": "number", "required": True, "min": 1, "max": 99},
    {"id": "kinds", "type": "multiselect", "options": ["Travel", "Food"]},
    {"id": "seen", "label": "I have seen the receipt", "type": "checkbox", "required": True},
    {"id": "day", "type": "date"},
]


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as people:
        yield people


async def asked(
    us: Team,
    *,
    input_classification: int = 0,
    output: str = "approve",
    check: str = "Pay it?",
    settings: str = "",
    **params: Any,
) -> dict[str, Any]:
    """Start a flow that asks for an approval, and return the pending approval."""
    lines = "".join(f"\n    {name}: {value}" for name, value in params.items())
    spec = (
        "name: Expense\nnodes:\n  heard: ChatInput\n  check: Approval\n    question: "
        f"{check}{lines}\n  yes: ChatOutput\n  no: ChatOutput\n  late: ChatOutput\nedges:\n"
        "  heard.text -> check.value\n"
        f"  check.{output} -> yes.input\n  check.reject -> no.input\n  check.timeout -> late.input\n"
    )
    if input_classification:
        settings = f"input_classification: {input_classification}"
    if settings:
        spec += f"settings:\n  {settings}\n"
    flow = await us.make("editor", "/flows", spec=spec)
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text="Taxi, 40 EUR", version="draft")
    async with asyncio.timeout(PATIENCE):
        while not (items := (await us.get("editor", "/approvals", params={"run_id": run["id"]}))["items"]):
            assert (await us.get("editor", f"/flow-runs/{run['id']}"))["status"] not in {"failed", "completed"}
            await asyncio.sleep(0.02)
    approval: dict[str, Any] = items[0]
    return approval


async def ended(us: Team, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            run: dict[str, Any] = await us.get("editor", f"/flow-runs/{run_id}")
            if run["status"] not in {"queued", "running", "waiting"}:
                return run
            await asyncio.sleep(0.05)


async def decide(us: Team, who: str, approval: dict[str, Any], decision: str = "approve", **more: Any) -> int:
    body = {"decision": decision, **more}
    return (await us.ask(who, "POST", f"/approvals/{approval['id']}/decision", json=body)).status_code


class TestClassification:
    @pytest.mark.parametrize(("decision", "taken", "expected"), [("approve", "yes", 0), ("reject", "no", 3)])
    async def test_is_lowered_by_an_approval_only(
        self, settings: Settings, decision: str, taken: str, expected: int
    ) -> None:
        async with team(settings, classification=ClassificationSettings(enabled=True)) as us:
            approval = await asked(us, input_classification=3, policy='{"output_classification_override": 0}')
            assert await decide(us, "owner", approval, decision) == 200
            run = await ended(us, approval["run_id"])
            assert (run["status"], run["text"]) == ("completed", "Taxi, 40 EUR")
            levels = [
                (await us.get("editor", f"/flow-runs/{run['id']}/steps/{step}"))["classification"]["level"]
                for step in ("heard", "check", taken)
            ]
        assert levels == [3, expected, expected]


class TestApproval:
    async def test_of_a_hundred_clicks_is_one_decision(self, us: Team) -> None:
        approval = await asked(us)
        clicks = [
            decide(us, who, approval, "approve" if number % 2 else "reject")
            for number in range(20)
            for who in ("runner", "editor", "publisher", "owner", "admin")
        ]
        answers = Counter(await asyncio.gather(*clicks))
        assert answers[200] == 1
        assert answers.keys() <= {200, 409, 503}, "a server under too much load may refuse some"
        assert answers[409] > 90
        outcome = await us.get("viewer", f"/approvals/{approval['id']}")
        assert len(outcome["decisions"]) == 1
        run = await ended(us, approval["run_id"])
        assert run["status"] == "completed"
        taken = {step["step_id"] for step in run["steps"] if step["status"] == "completed"}
        assert taken == {"heard", "check", "yes" if outcome["status"] == "approved" else "no"}
        async with us.database.reading() as session:
            count = await session.execute(text("SELECT count(*) FROM audit_events WHERE resource_kind = 'approval'"))
            assert count.scalar_one() == 1

    async def test_that_is_decided_while_its_run_is_paused_is_no_longer_waited_for(self, us: Team) -> None:
        approval = await asked(us)
        run = f"/flow-runs/{approval['run_id']}"
        assert (await us.ask("editor", "POST", f"{run}/pause")).status_code == 200
        (before,) = [step for step in (await us.get("editor", run))["steps"] if step["waiting"]]
        assert (before["waiting"]["reason"], before["waiting"]["answered"]) == ("approval", False)
        assert await decide(us, "owner", approval) == 200
        paused = await us.get("editor", run)
        (step,) = [step for step in paused["steps"] if step["waiting"]]
        assert (paused["status"], step["waiting"]["answered"], step["waiting"]["until"]) == ("paused", True, None)
        assert (await us.get("editor", f"{run}/steps/check"))["waiting"]["answered"] is True
        assert (await us.ask("editor", "POST", f"{run}/continue")).status_code == 200
        over = await ended(us, approval["run_id"])
        assert (over["status"], any(step["waiting"] for step in over["steps"])) == ("completed", False)

    async def test_is_encrypted_at_rest(self, us: Team) -> None:
        await asked(us)
        async with us.database.reading() as session:
            content = (await session.execute(text("SELECT content FROM approvals"))).scalar_one()
        assert b"Taxi" not in bytes(content)

    async def test_passes_the_edited_value_on(self, us: Team) -> None:
        approval = await asked(us, editable='["*"]')
        assert await decide(us, "runner", approval, edits={"*": "Taxi, 30 EUR"}, comment="less") == 200
        run = await ended(us, approval["run_id"])
        assert run["text"] == "Taxi, 30 EUR"

    async def test_refuses_edits_and_answers_that_it_does_not_ask_for(self, us: Team) -> None:
        approval = await asked(us, questions='["Cost centre"]')
        assert await decide(us, "runner", approval, edits={"*": "a million"}) == 422
        assert await decide(us, "runner", approval, answers={"Other": "x"}) == 422
        assert await decide(us, "runner", approval, content_hash="0" * 64) == 409
        assert await decide(us, "runner", approval, answers={"cost_centre": "12"}) == 200

    async def test_asks_a_typed_form_and_passes_the_answers_on(self, us: Team) -> None:
        approval = await asked(us, output="decision", questions=json.dumps(FORM))
        shown = await us.get("runner", f"/approvals/{approval['id']}")
        assert [(field["id"], field["type"], field["required"]) for field in shown["questions"]] == [
            ("centre", "number", True), ("kinds", "multiselect", False), ("seen", "checkbox", True),
            ("day", "date", False),
        ]  # fmt: skip
        good = {"centre": "12", "kinds": ["Food"], "seen": True, "day": "2026-11-29"}
        for wrong, name in (
            ({"centre": 100}, "centre"),
            ({"centre": None}, "centre"),
            ({"kinds": ["Rent"]}, "kinds"),
            ({"seen": False}, "seen"),
            ({"day": "tomorrow"}, "day"),
        ):
            body = {"decision": "approve", "answers": good | wrong}
            refusal = await us.ask("runner", "POST", f"/approvals/{approval['id']}/decision", json=body)
            assert (refusal.status_code, refusal.json()["code"]) == (422, "approval_response_invalid")
            assert f"'{name}'" in refusal.json()["detail"]
        assert await decide(us, "runner", approval, answers=good) == 200
        run = await ended(us, approval["run_id"])
        typed = {"centre": 12, "kinds": ["Food"], "seen": True, "day": "2026-11-29"}
        assert json.loads(run["text"])["answers"] == typed
        package = (await us.ask("viewer", "GET", f"/flow-runs/{run['id']}/evidence")).content
        assert verify(package).good
        [check] = [step for step in json.loads(package)["step_results"] if step["step_id"] == "check"]
        assert check["approvals"][0]["decisions"][0]["answers"] == typed
        [decision] = (await us.get("viewer", f"/approvals/{approval['id']}"))["decisions"]
        assert decision["answers"] == typed

    async def test_is_rejected_without_the_answers_that_an_approval_requires(self, us: Team) -> None:
        approval = await asked(us, questions=json.dumps(FORM))
        assert await decide(us, "runner", approval, "reject", answers={"centre": "many"}) == 422
        assert await decide(us, "runner", approval, "reject", answers={"centre": 7}) == 200

    @pytest.mark.parametrize(
        ("form", "problem"),
        [
            ([{"id": "scan", "type": "file"}], "has the type file"),
            ([{"id": "a"}, {"id": "a"}], "two fields have the id 'a'"),
            ([{"id": "a", "type": "number", "min": 3, "max": 1}], "min is greater than max"),
            ([{"id": "a", "private": True}], "is private"),
        ],
    )
    async def test_with_a_form_that_nobody_could_answer_asks_nothing(
        self, us: Team, form: list[dict[str, Any]], problem: str
    ) -> None:
        spec = (
            "name: Expense\nnodes:\n  heard: ChatInput\n  check: Approval\n"
            f"    questions: {json.dumps(form)}\nedges:\n  heard.text -> check.value\n"
        )
        flow = await us.make("editor", "/flows", spec=spec)
        run = await us.make("editor", f"/flows/{flow['id']}/runs", text="Taxi", version="draft")
        end = await ended(us, run["id"])
        assert end["status"] == "failed"
        assert problem in json.dumps(end)

    async def test_is_decided_by_its_assignees_alone(self, us: Team) -> None:
        approval = await asked(us, assignees='["role:publisher", "runner@example.org"]')
        assert await decide(us, "viewer", approval) == 403
        assert await decide(us, "editor", approval) == 403
        assert await decide(us, "stranger", approval) == 404
        assert (await us.get("editor", "/approvals/count"))["pending"] == 0
        assert (await us.get("runner", "/approvals/count"))["pending"] == 1
        assert await decide(us, "runner", approval) == 200

    async def test_is_not_decided_by_the_starter_where_that_is_set(self, us: Team) -> None:
        approval = await asked(us, not_starter="true")
        assert await decide(us, "editor", approval) == 403
        assert await decide(us, "owner", approval) == 200

    async def test_needs_as_many_users_as_set(self, us: Team) -> None:
        approval = await asked(us, needed=2)
        assert await decide(us, "runner", approval) == 200
        assert await decide(us, "runner", approval) == 409, "one user counts once"
        assert (await us.get("viewer", f"/approvals/{approval['id']}"))["status"] == "pending"
        assert await decide(us, "owner", approval) == 200
        assert (await ended(us, approval["run_id"]))["status"] == "completed"

    async def test_takes_the_timeout_branch_when_nobody_decides(self, us: Team) -> None:
        approval = await asked(us, timeout_hours=0.0005)
        run = await ended(us, approval["run_id"])
        assert "late" in {step["step_id"] for step in run["steps"] if step["status"] == "completed"}
        assert await decide(us, "owner", approval) == 409
        assert (await us.get("viewer", f"/approvals/{approval['id']}"))["status"] == "timed_out"

    async def test_is_closed_with_its_run(self, us: Team) -> None:
        approval = await asked(us)
        await us.make("editor", f"/flow-runs/{approval['run_id']}/cancel")
        assert (await us.get("viewer", f"/approvals/{approval['id']}"))["status"] == "closed"
        assert await decide(us, "owner", approval) == 409

    async def test_is_part_of_the_signed_evidence(self, us: Team) -> None:
        approval = await asked(us)
        assert await decide(us, "owner", approval, comment="fine") == 200
        await ended(us, approval["run_id"])
        package = (await us.ask("viewer", "GET", f"/flow-runs/{approval['run_id']}/evidence")).content
        assert verify(package).good
        shown = approval["content_hash"].encode()
        assert shown in package
        assert not verify(package.replace(shown, b"0" * 64)).good
