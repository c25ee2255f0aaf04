"""A session of the development agent that waits with a plan, for pictures: its model is a scripted server."""

import json
from collections import deque

from tests.e2e.support.studio import Studio
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Script

WISH = "Sort support mails by how urgent they are, and name the reason in a sentence. Mails are in Swedish or English."
CASES = [
    {"name": "An outage is urgent", "text": "Nothing works since nine o'clock!", "expect": {"contains": ["urgent"]}},
    {"name": "Thanks are not", "text": "Tack för hjälpen igår.", "expect": {"excludes": ["urgent"]}},
]
PLAN = """The mail goes to a classifier, and what it answers is put into words.

1. `ChatInput` takes the mail.
2. `PromptTemplate` asks for *urgent*, *normal* or *low*, and for the reason.
3. `ChatOutput` says both.
"""
FOUND = "No flow here sorts mails. Three components are enough.\n\nCREDENTIALS_STATUS: OK"


def environment(openai: OpenAIServer) -> dict[str, str]:
    """Settings of a server whose model is the scripted one."""
    return {
        "OPENAI_API_KEY": "sk-of-a-test",
        "OPENAI_BASE_URL": openai.base_url,
        "HEADGATE_CODEV__MODEL": "openai/gpt-5-mini",
    }


def waiting_with_a_plan(studio: Studio, openai: OpenAIServer) -> str:
    """Start one that waits for its plan to be approved; its id."""
    lines: deque[Script] = deque(
        (
            openai.tool_call("search_components", {"query": "sort a text"}, tokens=(1840, 22)),
            openai.tool_call("describe_component", {"component_type": "PromptTemplate"}, tokens=(2310, 18)),
            openai.text(FOUND, tokens=(2702, 64)),
            openai.text(f"{PLAN}\n```tests\n{json.dumps(CASES)}\n```", tokens=(3120, 412)),
        )
    )
    openai.sort = lambda _asked: lines.popleft() if lines else None
    body = {"requirement": WISH, "skip_clarification": True, "test_trials": 3}
    found: str = studio.post("/codev/sessions", body)["thread_id"]
    return found
