"""`build_from_pattern` over HTTP with a model at the wire: a flow from an earlier session, or from a template."""

import json

from headgate.features.catalog.gallery import load_gallery
from tests.integration.agents.codev.test_session_on_own_flow import (
    FOUND,
    PLAN,
    Session,
    app,
    client,
    session,
    waits_for,
)
from tests.support.own_place import GREETING

__all__ = ["app", "client", "session"]


async def kept(session: Session) -> str:
    """The id of the pattern of a session that came to its end."""
    openai = session.openai
    await session.start(openai.text(FOUND), openai.text(PLAN))
    build = openai.tool_call("build_flow", {"spec": GREETING})
    await session.approve(build, openai.text("Built."), openai.text("DONE"))
    await session.accept()
    (pattern,) = (await session.client.get("/codev/patterns")).json()["items"]
    return str(pattern["id"])


class TestBuildFromPattern:
    async def test_builds_and_passes_its_tests_with_the_values_that_differ(self, session: Session) -> None:
        pattern_id, openai = await kept(session), session.openai
        plan = PLAN.replace("Hello Ann!", "Welcome Ann!")
        await session.start(openai.text(FOUND), openai.text(plan), requirement="Welcome guests")
        arguments = {
            "id": pattern_id,
            "name": "Welcome",
            "values": {"words": {"template": "Welcome {text}!"}},
        }
        state = await session.approve(
            openai.tool_call("build_from_pattern", arguments), openai.text("Built."), openai.text("DONE")
        )
        assert waits_for(state) == "result_review"
        flow = await session.flow()
        assert flow["definition"]["name"] == "Welcome"
        assert flow["definition"]["nodes"][1]["params"]["template"] == "Welcome {text}!"
        assert [write["tool"] for write in state["state"]["writes"]] == ["build_from_pattern"]
        await session.accept()
        patterns = (await session.client.get("/codev/patterns")).json()["items"]
        assert {one["id"]: one["success_count"] for one in patterns}[pattern_id] == 2, "its use was counted"

    async def test_takes_a_ready_made_template_too(self, session: Session) -> None:
        openai = session.openai
        template = load_gallery()[0]
        await session.start(openai.text(FOUND), openai.text(PLAN))
        await session.approve(
            openai.tool_call("build_from_pattern", {"id": template.key}),
            openai.text("Built."),
            *[openai.text("DONE")] * 2,
        )
        asked = [json.dumps(one.body["messages"][-1]) for one in openai.asked]
        told = next(one for one in asked if "tool build_from_pattern" in one)
        assert "There is no template" not in told

    async def test_refuses_what_does_not_fit_and_says_what_does(self, session: Session) -> None:
        pattern_id, openai = await kept(session), session.openai
        await session.start(openai.text(FOUND), openai.text(PLAN))
        await session.approve(
            openai.tool_call("build_from_pattern", {"id": pattern_id, "values": {"nowhere": {"a": 1}}}),
            openai.tool_call("build_from_pattern", {"id": "nothing-like-it"}),
            openai.tool_call("build_flow", {"spec": GREETING}),
            openai.text("Built."),
            openai.text("DONE"),
        )
        told = json.dumps([one.body["messages"] for one in openai.asked])
        assert "the pattern has no node 'nowhere'; its nodes are out, who, words" in told
        assert "There is no template 'nothing-like-it'" in told
