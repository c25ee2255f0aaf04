"""What a pattern keeps of a flow, and what it must not."""

import json
from typing import Any

from headgate.agents.codev.patterns.describing import LONGEST, described
from headgate.agents.codev.patterns.recipes import LARGEST, components_of, plain, recipe_of
from headgate.graph.spec import parse_spec

KEY = "sk-live-0123456789abcdefghij"
FLOW = """name: Bot
description: Answers
nodes:
  ask: ChatInput
  reply: AIStep
    prompt: Answer {{ask.text}} in Swedish.
  hook: WebhookOut
    url: https://someone:hunter22222@hooks.example.org/services/T00000000/Bsecret1234567890?token=abcdefgh
    secret: {"secret": "HOOK_SECRET"}
    headers:
      Authorization: Bearer abcdefghijkl
edges:
  ask.text -> reply.input
"""


def definition(text: str = FLOW) -> dict[str, Any]:
    found: dict[str, Any] = parse_spec(text).model_dump(mode="json")
    return found


def flowise(**data: Any) -> dict[str, Any]:
    node = {
        "id": "chatOpenAI_0",
        "position": {"x": 1, "y": 2},
        "data": {"name": "chatOpenAI", "label": "OpenAI", **data},
    }
    return {"nodes": [node], "edges": [], "viewport": {"x": 0}}


class TestRecipeOfAFlowOfOurOwn:
    def test_holds_how_it_is_built(self) -> None:
        recipe = recipe_of("headgate", definition())
        assert components_of(recipe) == ["ChatInput", "AIStep", "WebhookOut"]
        assert "Answer {{ask.text}} in Swedish." in described(recipe)
        assert "ask.text -> reply.input" in described(recipe)

    def test_holds_no_secret(self) -> None:
        text = json.dumps(recipe_of("headgate", definition()))
        for secret in ("hunter22222", "abcdefgh", "Bsecret", "HOOK_SECRET", "Authorization"):
            assert secret not in text
        assert "hooks.example.org" in text

    def test_holds_no_key_in_a_prompt(self) -> None:
        flow = definition(FLOW.replace("in Swedish", f"with {KEY}"))
        assert KEY not in json.dumps(recipe_of("headgate", flow))

    def test_is_the_same_wherever_things_lie_on_the_canvas(self) -> None:
        moved = definition()
        moved["nodes"][0]["position"] = {"x": 900, "y": 900}
        assert recipe_of("headgate", moved) == recipe_of("headgate", definition())

    def test_is_cut_where_it_is_huge(self) -> None:
        whole = definition()
        whole["nodes"] = [
            {"id": f"n{number}", "type": "AIStep", "params": {"prompt": "word " * 10_000}} for number in range(300)
        ]
        recipe = recipe_of("headgate", whole)
        assert len(json.dumps(recipe)) <= LARGEST
        assert len(described(recipe)) < LONGEST + 100


class TestRecipeOfAFlowiseFlow:
    def test_leaves_out_credentials_and_passwords(self) -> None:
        flow = flowise(
            credential="a5cc2497-8f47-42d1-9982-3b741a78d808",
            inputParams=[{"name": "proxy", "type": "password"}],
            inputs={
                "credential": "a5cc2497-8f47-42d1-9982-3b741a78d808",
                "FLOWISE_CREDENTIAL_ID": "a5cc2497-8f47-42d1-9982-3b741a78d808",
                "proxy": "hidden-by-type",
                "openAIApiKey": "hidden-by-name",
                "baseOptions": {"headers": [{"key": "X-Auth", "value": "hidden-in-a-row"}], "retries": 2},
                "modelName": "gpt-4o-mini",
                "template": "{{question}} in short",
                "memory": "{{bufferMemory_0.data.instance}}",
            },
        )
        recipe = recipe_of("flowise", flow)
        text = json.dumps(recipe)
        assert "a5cc2497" not in text
        assert "hidden" not in text
        assert "instance" not in text
        for kept in ("gpt-4o-mini", "{{question}} in short", "chatOpenAI"):
            assert kept in text
            assert kept in described(recipe)

    def test_reads_flow_data_that_is_a_text(self) -> None:
        assert components_of(recipe_of("flowise", {"flowData": json.dumps(flowise())})) == ["chatOpenAI"]

    def test_bears_with_whatever_a_server_answers(self) -> None:
        odds: list[dict[str, Any]] = [{}, {"flowData": "<html>"}, {"nodes": 3}, {"nodes": [1, {"id": "b", "data": []}]}]
        for odd in odds:
            assert recipe_of("flowise", odd) == {"nodes": [], "edges": []}

    def test_bears_with_depth_and_with_what_no_database_holds(self) -> None:
        deep: Any = "x"
        for _ in range(200):
            deep = [deep]
        recipe = recipe_of("flowise", flowise(inputs={"deep": deep, "nul": "a\0b\ud800", "large": 10**30}))
        assert "\\u0000" not in json.dumps(recipe)
        json.dumps(recipe).encode()


class TestPlain:
    def test_is_what_people_wrote_without_keys(self) -> None:
        assert plain(f"A bot with {KEY}") == "A bot with [redacted]"
