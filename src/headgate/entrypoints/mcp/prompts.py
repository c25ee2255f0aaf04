"""Prompts that a client offers its person: how to go about a job with the tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.foundation.errors import Invalid, NotFound
from headgate.graph.names import did_you_mean

LONGEST_ARGUMENT = 4_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, the one thing it asks for, and its text with a place for that."""

    name: str
    title: str
    description: str
    argument: str
    argument_description: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """As the protocol lists it."""
        argument = {"name": self.argument, "description": self.argument_description, "required": True}
        return {"name": self.name, "title": self.title, "description": self.description, "arguments": [argument]}


PROMPTS = (
    Prompt(
        "build_a_flow",
        "Build a flow",
        "Build a flow that does a job, check it, and try it once.",
        "job",
        "What the flow should do, in your words.",
        "Build a Headgate flow that does this:\n\n<job>\n{job}\n</job>\n\n"
        "1. Look for a ready-made flow with search_templates; start from it if one fits.\n"
        "2. Otherwise find the components with search_components and read those you want with describe_component.\n"
        "3. Make the whole flow with create_flow_from_spec. When it is refused, correct every fault it names at once.\n"
        "4. Check it with validate_flow and correct what keeps it from running.\n"
        "5. Ask whether to run it; then run_flow with a small input and say what came of it.\n"
        "Say in the end what the flow does, step by step, and give its id.",
    ),
    Prompt(
        "debug_a_run",
        "Find out why a run failed",
        "Find the step that made a run fail, and what to change.",
        "run_id",
        "Id of the run.",
        "Find out why this Headgate run went wrong: {run_id}\n\n"
        "1. Read it with read_run: which step failed, and with which error?\n"
        "2. Read the resource headgate://runs/{run_id}/evidence for what that step was given.\n"
        "3. Look at the flow with read_flow, and at the step with read_flow and its node_id.\n"
        "4. Say what the cause is and what you would change. Change nothing before I agree; then change it with\n"
        "   configure_component, check it with validate_flow, and run it again.",
    ),
    Prompt(
        "document_a_flow",
        "Document a flow",
        "Write what a flow does for somebody who has never seen it.",
        "flow_id",
        "Id of the flow.",
        "Write the documentation of the Headgate flow {flow_id}.\n\n"
        "Read it with read_flow, and its steps with read_flow and values. Say what it is for, what it takes, what\n"
        "each step does and why, what it gives, which services and models it asks, and what can go wrong. Do\n"
        "not change it.",
    ),
)


class UnknownPrompt(NotFound):
    """There is no prompt of that name."""

    code = "unknown_prompt"
    title = "Unknown prompt"


async def fill(name: str, arguments: Mapping[str, str]) -> tuple[str, str]:
    """Description and text of a prompt. Raises `UnknownPrompt`, or `Invalid` when its argument is missing or long."""
    found = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if found is None:
        names = [prompt.name for prompt in PROMPTS]
        raise UnknownPrompt(
            f"There is no prompt '{name[:100]}'{did_you_mean(name, names) or '.'}",
            remedy=f"There are {', '.join(names)}.",
        )
    value = arguments.get(found.argument, "").strip()
    if not value or len(value) > LONGEST_ARGUMENT:
        raise Invalid(
            f"The prompt '{name}' needs '{found.argument}' of 1 to {LONGEST_ARGUMENT} characters.",
            remedy=found.argument_description,
        )
    return found.description, found.text.replace("{" + found.argument + "}", value)
