"""What a real Flowise 3.1.4 answered, as it was recorded; the AgentflowV2 components are those of its package."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from headgate.agents.codev.domains.flowise.node_schema import NodeSchema, schema_of

FOLDER = Path(__file__).parents[1] / "data" / "flowise"
CREDENTIAL = "a5cc2497-8f47-42d1-9982-3b741a78d808"
"""The one credential of type `openAIApi` that was there."""


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text()


def recording(name: str) -> Any:
    """The answer that was recorded under that name."""
    found = json.loads(_text(f"{name}.json"))
    return found["response"] if isinstance(found, dict) and "request" in found else found


def recorded_nodes() -> list[dict[str, Any]]:
    """Components as `GET /nodes` gives them, those that were recorded whole."""
    names = sorted(path.stem for path in FOLDER.glob("node_*.json") if path.stem != "node_not_found")
    return [recording(name) for name in names] + list(recording("agentflow_nodes").values())


def schemas() -> dict[str, NodeSchema]:
    """The same, as they are worked with."""
    found = [schema_of(one) for one in recorded_nodes()]
    return {one.name: one for one in found if one is not None}


def recorded_flow(name: str) -> dict[str, Any]:
    """A chatflow as Flowise keeps it: `llmchain`, `two_customfunction`."""
    found: dict[str, Any] = json.loads(_text(f"flow_{name}.flowData.json"))
    return found
