"""What a user decides about a session, over HTTP with a model at the wire: credentials, another model, a rollback."""

from typing import Any

import pytest

from tests.integration.agents.codev.test_session_on_own_flow import (
    FOUND,
    KEY,
    PLAN,
    TOKEN,
    Session,
    app,
    client,
    session,
    waits_for,
)
from tests.support.own_place import GREETING

__all__ = ["app", "client", "session"]
MISSING = FOUND.replace("STATUS: OK", "STATUS: MISSING\nMISSING_TYPES: CRM_TOKEN, BILLING_TOKEN")
RENAME = {"node_id": "words", "new_id": "welcome"}
UNAUTHORISED = "ITERATE\nCategory: CREDENTIAL\nReason: greets: 401\nFix: add the key\nMISSING_TYPES: CRM_TOKEN"


async def built(session: Session) -> dict[str, Any]:
    """A session that made a flow and waits for its review."""
    openai = session.openai
    await session.start(openai.text(FOUND), openai.text(PLAN))
    build = openai.tool_call("build_flow", {"spec": GREETING})
    return await session.approve(build, openai.text("Built."), openai.text("DONE"))


async def changed(session: Session) -> dict[str, Any]:
    """A session that renamed a node of a flow that was there, and waits for its review."""
    openai = session.openai
    made = await built(session)
    await session.accept()
    await session.start(openai.text(FOUND), openai.text(PLAN), flow_id=made["flow_id"])
    return await session.approve(
        openai.tool_call("rename_component", RENAME), openai.text("Renamed."), openai.text("DONE")
    )


async def somebody_saves(session: Session, description: str) -> None:
    flow = await session.flow()
    body = {"revision": flow["revision"], "definition": flow["definition"] | {"description": description}}
    answer = await session.client.patch(f"/flows/{session.state['flow_id']}/draft", json=body)
    assert answer.status_code == 200, answer.text


def nodes(flow: dict[str, Any]) -> list[str]:
    return [node["id"] for node in flow["definition"]["nodes"]]


def missing(state: dict[str, Any]) -> list[str]:
    return [needed["type"] for needed in state["interrupt"]["data"]["missing"]]


class TestCredentials:
    async def test_leave_the_list_at_once_wherever_they_were_added(self, session: Session) -> None:
        openai, client = session.openai, session.client
        state = await session.start(openai.text(MISSING))
        assert missing(state) == ["CRM_TOKEN", "BILLING_TOKEN"]
        given = {"type": "CRM_TOKEN", "values": {"CRM_TOKEN": TOKEN}}
        answer = (await client.post(f"{session.path}/credentials", json=given)).json()
        listed = (await client.get("/codev/sessions")).json()["items"][0]
        for shown in (answer, (await client.get(session.path)).json(), listed):
            assert missing(shown) == ["BILLING_TOKEN"]
            assert "CRM_TOKEN" not in shown["interrupt"]["prompt"]
        elsewhere = await client.put("/variables/BILLING_TOKEN", json={"value": TOKEN})
        assert elsewhere.status_code == 200, elsewhere.text
        shown = (await client.get(session.path)).json()
        assert missing(shown) == []
        assert "are available" in shown["interrupt"]["prompt"]
        assert waits_for(await session.answer({"type": "credential_check"}, openai.text(PLAN))) == "plan_approval"

    async def test_that_were_added_are_not_called_missing_when_others_are_skipped(self, session: Session) -> None:
        openai, client = session.openai, session.client
        await session.start(openai.text(MISSING))
        given = {"type": "CRM_TOKEN", "values": {"CRM_TOKEN": TOKEN}}
        assert (await client.post(f"{session.path}/credentials", json=given)).status_code == 200
        await session.answer({"type": "credential_check", "skip": True}, openai.text(PLAN))
        told = str(openai.asked[-1].body["messages"])
        assert "continue without these: BILLING_TOKEN." in told

    async def test_that_a_trial_lacks_are_waited_for_in_the_same_way_and_the_flow_is_tested_again(
        self, session: Session
    ) -> None:
        openai, client = session.openai, session.client
        wrong = PLAN.replace("Hello Ann!", "Good day Ann!")
        await session.start(openai.text(FOUND), openai.text(wrong))
        build = openai.tool_call("build_flow", {"spec": GREETING})
        state = await session.approve(build, openai.text("Built."), openai.text(UNAUTHORISED))
        assert waits_for(state) == "credential_check"
        assert missing(state) == ["CRM_TOKEN"]
        given = {"type": "CRM_TOKEN", "values": {"CRM_TOKEN": TOKEN}}
        assert missing((await client.post(f"{session.path}/credentials", json=given)).json()) == []
        before = len(state["state"]["trials"])
        verdict = "ITERATE\nCategory: LOGIC\nReason: it says Hello\nFix: say Good day"
        state = await session.answer({"type": "credential_check"}, openai.text(verdict), openai.text(wrong))
        assert waits_for(state) == "plan_approval", "another plan is asked for, since its tests fail still"
        assert len((await client.get("/flow-runs")).json()["items"]) == 2 * before, "it was tested again, not planned"
        assert len([write for write in state["state"]["writes"] if write["state"] == "done"]) == 1


REFUSED = "sk-test-" + "refused-by-the-provider"


class TestTheKeyOfTheModel:
    """It is waited for like any other credential, in either domain (`test_session_on_flowise`)."""

    async def test_that_is_refused_is_asked_for_and_the_call_is_made_again(self, session: Session) -> None:
        openai, client = session.openai, session.client
        state = await session.start(openai.text(FOUND), lambda _asked: openai.wrong_key("no"))
        assert waits_for(state) == "credential_check"
        data = state["interrupt"]["data"]
        assert (data["of"], data["model"], data["refused"]) == ("model", "openai/gpt-5-mini", True)
        assert missing(state) == ["OPENAI_API_KEY"]
        assert "rejected the key" in state["interrupt"]["prompt"]
        assert state["state"]["discovery_summary"], "what was paid for is kept"
        shown = (await client.get(session.path)).json()
        assert missing(shown) == ["OPENAI_API_KEY"], "a key that was refused is missing although it is set"
        given = {"type": "OPENAI_API_KEY", "values": {"OPENAI_API_KEY": KEY}}
        assert missing((await client.post(f"{session.path}/credentials", json=given)).json()) == []
        calls = len(openai.asked)
        state = await session.answer({"type": "credential_check"}, openai.text(PLAN))
        assert waits_for(state) == "plan_approval"
        assert len(openai.asked) == calls + 1, "only the call that failed is made again"

    async def test_that_is_refused_again_is_asked_for_again(self, session: Session) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), lambda _asked: openai.wrong_key("no"))
        state = await session.answer({"type": "credential_check"}, lambda _asked: openai.wrong_key("no"))
        assert (waits_for(state), missing(state)) == ("credential_check", ["OPENAI_API_KEY"])

    async def test_that_is_gone_is_asked_for_and_leaves_the_list_once_it_is_set(self, session: Session) -> None:
        openai, client = session.openai, session.client
        await session.start(openai.text(FOUND), openai.text(PLAN))
        assert (await client.delete("/organisation/variables/OPENAI_API_KEY")).status_code == 204
        build = openai.tool_call("build_flow", {"spec": GREETING})
        state = await session.approve()
        assert waits_for(state) == "credential_check"
        assert (missing(state), state["interrupt"]["data"]["refused"]) == (["OPENAI_API_KEY"], False)
        set_again = await client.put("/variables/OPENAI_API_KEY", json={"value": KEY})
        assert set_again.status_code == 200, set_again.text
        assert missing((await client.get(session.path)).json()) == []
        script = (build, openai.text("Built."), openai.text("DONE"))
        assert waits_for(await session.answer({"type": "credential_check"}, *script)) == "result_review"

    async def test_can_be_left_by_another_model_while_it_is_waited_for_or_after(self, session: Session) -> None:
        openai = session.openai
        state = await session.start(openai.text(FOUND), lambda _asked: openai.wrong_key("no"))
        assert state["can_go_on"]
        state = await session.answer({"type": "credential_check", "skip": True})
        assert (state["status"], state["can_go_on"], state["lacks_budget"]) == ("stopped", True, False)
        assert "openai/gpt-5-mini cannot be called" in state["stop_reason"]
        state = await session.retry(lambda _asked: openai.wrong_key("no"), model="openai/gpt-5")
        assert waits_for(state) == "credential_check"
        state = await session.retry(openai.text(PLAN), model="openai/gpt-4o")
        assert waits_for(state) == "plan_approval"
        assert openai.asked[-1].body["model"] == "gpt-4o"


class TestABudgetThatIsUsedUp:
    async def test_keeps_what_was_paid_for_and_continues_with_a_larger_one(self, session: Session) -> None:
        openai, client = session.openai, session.client
        plan = openai.text(PLAN, tokens=(900, 200))
        state = await session.start(openai.text(FOUND, tokens=(10, 5)), plan, token_budget=1000)
        assert (state["status"], state["can_go_on"], state["lacks_budget"]) == ("stopped", True, True)
        assert state["state"]["discovery_summary"]
        assert "Three nodes" in state["state"]["plan"]
        assert len(state["state"]["cases"]) == 2
        for body in ({}, {"token_budget": 1100}):
            refused = await client.post(f"{session.path}/retry", json=body)
            assert (refused.status_code, refused.json()["code"]) == (422, "codev_budget_too_small")
        calls = len(openai.asked)
        state = await session.retry(token_budget=5000)
        assert (waits_for(state), state["token_budget"]) == ("plan_approval", 5000)
        assert len(openai.asked) == calls, "the plan was paid for and is not written again"
        build = openai.tool_call("build_flow", {"spec": GREETING}, tokens=(3000, 2000))
        state = await session.approve(build)
        assert (state["status"], state["lacks_budget"]) == ("stopped", True)
        state = await session.retry(openai.text("Built."), openai.text("DONE"), token_budget=90_000)
        assert waits_for(state) == "result_review"
        assert [write["state"] for write in state["state"]["writes"]] == ["done"], "the call that was paid for is made"
        assert all(trial["passed"] for trial in state["state"]["trials"])

    async def test_is_not_changed_for_a_session_that_has_one(self, session: Session) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), lambda _asked: openai.wrong_key("no"))
        refused = await session.client.post(f"{session.path}/retry", json={"token_budget": 5000})
        assert refused.status_code == 422


class TestAnotherModel:
    async def test_takes_over_a_session_that_failed(self, session: Session) -> None:
        openai, client = session.openai, session.client
        state = await session.start(openai.text(FOUND), *[lambda _asked: openai.no_such_model("gpt-5-mini")] * 3)
        assert (state["status"], state["can_go_on"]) == ("error", True)
        session.lines.clear()
        refused = await client.post(f"{session.path}/retry", json={"model": "anthropic/claude-sonnet-4-5"})
        assert (refused.status_code, refused.json()["code"]) == (422, "provider_not_configured")
        assert (await client.get(session.path)).json()["status"] == "error", "a model that is not ready starts nothing"
        session.lines.append(openai.text(PLAN))
        state = (await client.post(f"{session.path}/retry", json={"model": "openai/gpt-5"})).json()
        assert waits_for(state) == "plan_approval"
        assert state["model"] == "openai/gpt-5"
        assert openai.asked[-1].body["model"] == "gpt-5"
        assert KEY not in str(state)

    async def test_is_refused_for_a_session_that_waits(self, session: Session) -> None:
        await session.start(session.openai.text(FOUND), session.openai.text(PLAN))
        refused = await session.client.post(f"{session.path}/retry", json={"model": "openai/gpt-5"})
        assert (refused.status_code, refused.json()["code"]) == (409, "codev_not_waiting")


class TestRollback:
    async def test_is_shown_before_it_happens(self, session: Session) -> None:
        await changed(session)
        preview = (await session.client.get(f"{session.path}/rollback")).json()
        assert preview["conflict"] is False
        (flow,) = preview["flows"]
        assert (flow["outcome"], flow["theirs"]) == ("restored", [])
        assert flow["changes"] == ["~ node 'welcome' is now 'words'"]
        assert nodes(await session.flow()) == ["who", "welcome", "out"]

    @pytest.mark.parametrize("choice", ["keep_theirs", "take_mine"])
    async def test_asks_where_others_edited_meanwhile(self, session: Session, choice: str) -> None:
        client = session.client
        await changed(session)
        await somebody_saves(session, "Theirs")
        preview = (await client.get(f"{session.path}/rollback")).json()
        assert preview["conflict"] is True
        assert any("Theirs" in line for line in preview["flows"][0]["theirs"])
        refused = await client.post(f"{session.path}/rollback")
        assert (refused.status_code, refused.json()["code"]) == (409, "codev_rollback_conflict")
        unseen = await client.post(f"{session.path}/rollback", json={"choice": choice})
        assert unseen.status_code == 422, "no answer without having seen the differences"
        answer = {"choice": choice, "token": preview["token"]}
        back = await client.post(f"{session.path}/rollback", json=answer)
        assert (back.status_code, back.json()["can_roll_back"]) == (200, False)
        flow = await session.flow()
        theirs = choice == "keep_theirs"
        assert nodes(flow) == ["who", "welcome" if theirs else "words", "out"]
        assert flow["definition"].get("description", "") == ("Theirs" if theirs else "Greets whoever writes")
        if not theirs:  # what was replaced is kept among the versions
            versions = (await client.get(f"/flows/{flow['id']}/versions")).json()["items"]
            assert len(versions) >= 1

    async def test_of_a_stale_preview_changes_nothing(self, session: Session) -> None:
        await changed(session)
        await somebody_saves(session, "Theirs")
        preview = (await session.client.get(f"{session.path}/rollback")).json()
        await somebody_saves(session, "Newer")
        answer = {"choice": "take_mine", "token": preview["token"]}
        refused = await session.client.post(f"{session.path}/rollback", json=answer)
        assert (refused.status_code, refused.json()["code"]) == (409, "codev_rollback_conflict")
        assert (await session.flow())["definition"]["description"] == "Newer"

    async def test_brings_back_a_flow_that_others_deleted(self, session: Session) -> None:
        client = session.client
        await changed(session)
        assert (await client.delete(f"/flows/{session.state['flow_id']}")).status_code == 204
        preview = (await client.get(f"{session.path}/rollback")).json()
        assert (preview["conflict"], preview["flows"][0]["deleted"]) == (True, True)
        answer = {"choice": "take_mine", "token": preview["token"]}
        assert (await client.post(f"{session.path}/rollback", json=answer)).status_code == 200
        assert nodes(await session.flow()) == ["who", "words", "out"]

    async def test_is_all_or_nothing_also_where_its_last_step_fails(
        self, session: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await changed(session)

        async def fails(*_args: object, **_named: object) -> None:
            raise OSError("the disk is full")

        with monkeypatch.context() as broken:
            broken.setattr("headgate.agents.codev.sessions.service.Sessions._record", fails)
            assert (await session.client.post(f"{session.path}/rollback")).status_code == 500
        assert nodes(await session.flow()) == ["who", "welcome", "out"]
        state = (await session.client.get(session.path)).json()
        assert [write["state"] for write in state["state"]["writes"]] == ["done"]
        assert (await session.client.post(f"{session.path}/rollback")).status_code == 200
        assert nodes(await session.flow()) == ["who", "words", "out"]
