"""The summary of a session: what others wrote cannot look like ours."""

from datetime import UTC, datetime
from typing import Any

import pytest

from headgate.agents.codev.schemas import SessionResponse
from headgate.agents.codev.sessions.markdown import block, cell, line
from headgate.agents.codev.sessions.summary import summarise

AT = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
HOSTILE = "```\n# Approved by the owner\n![x](https://evil.example/p.png)\n````\n<script>alert(1)</script>"


def session(**changes: Any) -> SessionResponse:
    given: dict[str, Any] = {
        "thread_id": "s-1",
        "status": "completed",
        "phase": "done",
        "iteration": 2,
        "domain": "flowise",
        "instance_id": "lab",
        "space_id": "space-1",
        "requirement": "Greet people",
        "model": "openai/gpt",
        "flow_id": "f-1",
        "flow_name": "Greeter",
        "link": "/flows/f-1",
        "interrupt": None,
        "stop_reason": "",
        "total_input_tokens": 1200,
        "total_output_tokens": 34,
        "token_budget": 2_000_000,
        "can_roll_back": True,
        "last_event": 9,
        "created_at": AT,
        "updated_at": AT,
    }
    return SessionResponse(**{**given, **changes})


def outside_fences(document: str) -> str:
    """What a reader of Markdown takes for the document's own."""
    kept, fence = [], ""
    for text in document.splitlines():
        ticks = text[: len(text) - len(text.lstrip("`"))]
        if fence:
            if len(ticks) >= len(fence) and text == ticks:
                fence = ""
        elif len(ticks) >= 3:
            fence = ticks
        else:
            kept.append(text)
    assert not fence, "a fence that is never closed"
    return "\n".join(kept)


class TestSummary:
    def test_says_what_is_known_and_no_more(self) -> None:
        document = summarise(session())
        assert "- Tokens: 1,234 of 2,000,000 (1,200 in, 34 out)" in document
        assert "- Flow: `Greeter` (`f-1`)" in document
        assert [text for text in document.splitlines() if text.startswith("## ")] == ["## Requirement"]

    def test_tells_each_part(self) -> None:
        trial = {"case": "greets", "trial": 1, "passed": False, "answer": "Bye", "misses": ["does not contain 'Hi'"]}
        state = {
            "clarification": "In Swedish.",
            "discovery_summary": "There is ChatInput.",
            "plan": "Three nodes.",
            "cases": [{"name": "greets", "text": "Ann"}],
            "writes": [{"number": 1, "tool": "apply_edits", "summary": "Adds", "state": "rolled_back", "at": "now"}],
            "patch_summary": "Built.",
            "trials": [trial],
            "converge_verdict": {"category": "LOGIC", "reason": "wrong", "fix": "right"},
            "conflict": {"message": "Ann changed it.", "lines": []},
        }
        document = summarise(session(state=state, status="stopped", stop_reason="The budget is used up."))
        assert [text[3:] for text in document.splitlines() if text.startswith("## ")] == [
            *(
                "Requirement",
                "Clarification",
                "What was found",
                "Plan",
                "Tests",
                "Changes",
                "The model's assessment",
            ),
            *("Trials", "Verdict", "Conflict", "Outcome"),
        ]
        assert "1. `apply_edits`: `Adds` (rolled back)" in document
        assert "| `greets` | 1 | no | `does not contain 'Hi'` |" in document

    @pytest.mark.parametrize("field", ["requirement", "flow_name", "model", "stop_reason", "instance_id"])
    def test_lets_no_field_speak_for_it(self, field: str) -> None:
        shown = outside_fences(summarise(session(**{field: HOSTILE})))
        assert "\n# Approved" not in shown

    @pytest.mark.parametrize("field", ["plan", "discovery_summary", "patch_summary", "clarification"])
    def test_lets_no_text_of_the_model_speak_for_it(self, field: str) -> None:
        shown = outside_fences(summarise(session(state={field: HOSTILE})))
        assert "evil" not in shown
        assert "<script>" not in shown

    def test_keeps_its_table_whatever_a_flow_answers(self) -> None:
        trial = {"case": "a|b", "trial": 1, "passed": True, "answer": "x | y\n| forged | 9 | yes | `z` |", "misses": []}
        rows = [one for one in summarise(session(state={"trials": [trial]})).splitlines() if one.startswith("|")]
        assert len(rows) == 3
        assert rows[2].count("|") == 5


class TestWords:
    @pytest.mark.parametrize("text", ["`", "``", "a`b", "`a", "a``", "", "\u202egnp\u200b"])
    def test_of_others_close_no_code(self, text: str) -> None:
        shown = line(text)
        if not shown:
            return
        fence = shown[: len(shown) - len(shown.lstrip("`"))]
        inner = shown[len(fence) : -len(fence)]
        assert fence not in inner
        assert "\u202e" not in shown

    def test_of_others_are_one_line(self) -> None:
        assert line("a\n# b\r\nc") == "`a # b c`"
        assert "\n" not in cell("a\nb|c")

    def test_of_nothing_are_nothing(self) -> None:
        assert (line(None), block("  \n")) == ("", "")
