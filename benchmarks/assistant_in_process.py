"""The model of `benchmarks.assistant`, without latency, in this process."""

from tests.support.scripted_model import ScriptedModel, calls, says

from benchmarks.assistant_model import BUILT, TOOLS, call_number
from headgate.agents.assistant.intent.intents import Intent


class InProcessModel(ScriptedModel):
    """Says the same without any wire, and knows what a request is."""

    def intent_of(self, _text: str) -> Intent:
        """Always a build."""
        return "build_flow"


def in_process(tools: int = TOOLS) -> InProcessModel:
    """A model for one turn of so many tool calls."""
    steps = [(name, given) for name, given in map(call_number, range(tools))]
    return InProcessModel(script=[*(calls(name, **given) for name, given in steps), says(BUILT)])
