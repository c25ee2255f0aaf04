"""What a session sends its model while it builds, counted in characters at the wire."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.agents.codev.test_session_on_own_flow import (
    BROKEN,
    FOUND,
    ON_SQLITE,
    PLAN,
    Session,
    app,
    client,
    session,
    waits_for,
)
from tests.support.own_place import GREETING

__all__ = ["app", "client", "session"]
LONG = "Be kind, and answer in one sentence. " * 120
"""A prompt of about 4,400 characters, as flows have."""


def with_prompt(spec: str) -> str:
    return spec.replace("Hello {text}!", f"Hello {{text}}! {LONG}")


def configured(number: int) -> dict[str, Any]:
    return {"node_id": "words", "params": {"template": f"Hello {{text}}! {number}"}}


@pytest.fixture
async def sent(session: Session) -> list[list[str]]:
    """The messages of each call of the patch phase, each as text."""
    openai = session.openai
    await session.start(openai.text(FOUND), openai.text(PLAN))
    before = len(openai.asked)
    state = await session.approve(
        openai.tool_call("describe_component", {"component_type": "PromptTemplate"}),
        openai.tool_call("build_flow", {"spec": with_prompt(BROKEN)}),
        openai.tool_call("build_flow", {"spec": with_prompt(BROKEN).replace("Be kind", "Be brief")}),
        openai.tool_call("build_flow", {"spec": with_prompt(GREETING)}),
        *(openai.tool_call("configure_component", configured(number)) for number in range(5)),
        openai.tool_call("configure_component", {"node_id": "words", "params": {"template": "Hello {text}!"}}),
        openai.text("Built."),
        openai.text("DONE"),
    )
    assert waits_for(state) == "result_review"
    calls = [asked.body["messages"] for asked in openai.asked[before:]]
    return [[json.dumps(message) for message in messages] for messages in calls[:11]]


@ON_SQLITE
class TestAPatch:
    async def test_does_not_send_what_led_to_a_write_with_every_later_call(
        self, sent: list[list[str]], record_property: Callable[[str, object], None]
    ) -> None:
        first_forms: list[str] = []
        whole = 0
        for messages in sent:
            first_forms += messages[len(first_forms) :]
            whole += sum(map(len, first_forms))
        characters = sum(len(message) for messages in sent for message in messages)
        system = sum(len(messages[0]) for messages in sent)
        record_property(
            "figures", f"messages of 11 calls: {whole - system} characters whole, {characters - system} sent"
        )
        assert characters - system < 0.6 * (whole - system), (characters, whole, system)
        assert "sentence. Be brief" not in "".join(sent[-1]), "a refused attempt is not sent again once it is written"

    async def test_begins_between_two_writes_with_what_was_sent_before(self, sent: list[list[str]]) -> None:
        for before, after in itertools.pairwise(sent[:4]):
            assert after[: len(before)] == before
        for before, after in itertools.pairwise(sent):
            assert after[:2] == before[:2], "the prompt and the approved plan are the same in every call"
