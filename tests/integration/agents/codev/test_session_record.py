"""The whole record of a session, over HTTP with a model at the wire: read as Markdown, and exported as evidence."""

import json
from typing import Any

import pytest

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.signing import EvidenceKey
from tests.integration.agents.codev.test_session_on_own_flow import (
    FOUND,
    KEY,
    PLAN,
    WRONG,
    Session,
    app,
    client,
    session,
    waits_for,
)
from tests.support.own_place import GREETING

__all__ = ["app", "client", "session"]
OTHER = PLAN.replace("Three nodes", "Three better nodes")
FIXED = {"node_id": "words", "params": {"template": "Hello {text}!"}}


async def lived(session: Session) -> None:
    """A session with questions, a rejected plan, a failed trial, a repair without an approval, and a review."""
    openai = session.openai
    await session.start(openai.text("SCORE: 6\n1. In which words?"), skip_clarification=False)
    await session.answer({"type": "clarification", "text": "Just hello."}, openai.text(FOUND), openai.text(PLAN))
    rejected = {"type": "plan_approval", "approved": False, "feedback": "Make it better, please."}
    await session.answer(rejected, openai.text(OTHER))
    state = await session.approve(
        openai.tool_call("build_flow", {"spec": WRONG}),
        openai.text("Built."),
        openai.text("ITERATE\nCategory: LOGIC\nReason: it says Bye\nFix: say Hello"),
        openai.text(OTHER.replace("better", "repaired")),
        openai.tool_call("configure_component", FIXED),
        openai.text("Changed."),
        openai.text("DONE"),
        repairs_approved=True,
    )
    assert waits_for(state) == "result_review"
    assert (await session.accept())["status"] == "completed"


async def exported(session: Session) -> bytes:
    answer = await session.client.get(f"{session.path}/evidence")
    assert answer.status_code == 200, answer.text
    return answer.content


class TestSummary:
    async def test_is_the_whole_record(self, session: Session) -> None:
        await lived(session)
        summary = (await session.client.get(f"{session.path}/summary")).json()["summary"]
        record = summary.partition("## Record")[2]
        in_order = [
            *("Questions:", "In which words?", "answered:", "Just hello.", "Plan 1:", "Three nodes"),
            *("rejected the plan:", "Make it better, please.", "Three better nodes", "approved the plan."),
            *("Test `greets by name`, trial 1: failed, run", "Verdict `LOGIC`: `it says Bye`"),
            *("Plan 2:", "Three repaired nodes", "trial 1: passed", "Verdict: done.", "approved the result."),
        ]
        at = 0
        for words in in_order:
            at = record.find(words, at)
            assert at >= 0, words


class TestEvidence:
    async def test_holds_everything_and_is_verified_offline(self, session: Session) -> None:
        await lived(session)
        content = await exported(session)
        assert content == await exported(session), "the same session gives the same bytes"
        key = EvidenceKey.model_validate((await session.client.get("/evidence-keys")).json()[-1])
        verdict = verify(content, key)
        assert (verdict.good, verdict.kind, verdict.run_id) == (True, "session", session.state["thread_id"])
        document: dict[str, Any] = json.loads(content)
        assert document["subject"]["started_by"]["user_id"]
        entries = document["entries"]
        answers = [one["data"] for one in entries if one["kind"] == "action"]
        assert [one["response"].get("feedback") for one in answers if one["action"] == "answered"][1] == (
            "Make it better, please."
        )
        assert all(one["by"]["user_id"] for one in answers)
        assert len([one for one in entries if one["kind"] == "plan"]) == 3
        assert [one["data"]["passed"] for one in entries if one["kind"] == "trial"] == [False, True, True, True]
        assert KEY not in content.decode()

    @pytest.mark.parametrize("word", ["Make it better", "Just hello", "it says Bye"])
    async def test_that_was_changed_is_refused(self, session: Session, word: str) -> None:
        await lived(session)
        forged = (await exported(session)).replace(word.encode(), word.upper().encode())
        verdict = verify(forged)
        assert not verdict.good
        assert any("'data' was changed" in str(fault) for fault in verdict.faults)

    async def test_of_which_an_entry_was_removed_is_refused(self, session: Session) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), openai.text(PLAN))
        await session.approve(
            openai.tool_call("build_flow", {"spec": GREETING}), openai.text("Built."), openai.text("DONE")
        )
        document = json.loads(await exported(session))
        del document["entries"][-2]
        assert not verify(json.dumps(document).encode()).good
