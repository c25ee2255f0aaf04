"""Prompt templates for MCP clients: how to do a job with the tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.foundation.errors import Invalid, NotFound
from headgate.graph.names import did_you_mean

LONGEST_ARGUMENT = 4_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template with one argument."""

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
        "What the flow should do.",
        "Build a Headgate flow that does this:\n\n<job>\n{job}\n</job>\n\n"
        "1. Search for a template with search_templates; start from it if one fits.\n"
        "2. Otherwise find components with search_components and read those you will use with describe_component.\n"
        "3. Create the complete flow with create_flow_from_spec. If it is refused, fix all listed errors at once.\n"
        "4. Check it with validate_flow and fix what prevents a run.\n"
        "5. Ask whether to run it; then call run_flow with a small input and report the result.\n"
        "Finally describe the flow step by step, and give its id.",
    ),
    Prompt(
        "debug_a_run",
        "Find out why a run failed",
        "Find the step that caused a failure, and its fix.",
        "run_id",
        "Id of the run.",
        "Find out why this Headgate run failed: {run_id}\n\n"
        "1. Read it with read_run: which step failed, with which error?\n"
        "2. Read the resource headgate://runs/{run_id}/evidence for the input of that step.\n"
        "3. Read the flow with read_flow, and the step with read_flow and its node_id.\n"
        "4. Explain the cause and propose a fix. Change nothing before I agree; then change it with\n"
        "   configure_component, check it with validate_flow, and run it again.",
    ),
    Prompt(
        "document_a_flow",
        "Document a flow",
        "Describe a flow for a reader who has never seen it.",
        "flow_id",
        "Id of the flow.",
        "Write the documentation of the Headgate flow {flow_id}.\n\n"
        "Read it with read_flow, and its steps with read_flow and values. Describe its purpose, its input, what\n"
        "each step does and why, its output, the services and models it calls, and possible failures. Do\n"
        "not change it.",
    ),
)


class UnknownPrompt(NotFound):
    """No prompt has that name."""

    code = "unknown_prompt"


async def fill(name: str, arguments: Mapping[str, str]) -> tuple[str, str]:
    """Description and text of a prompt. Raises `UnknownPrompt`, or `Invalid` when its argument is missing or long."""
    chosen = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if chosen is None:
        names = [prompt.name for prompt in PROMPTS]
        raise UnknownPrompt(
            f"There is no prompt '{name[:100]}'{did_you_mean(name, names) or '.'}",
            remedy=f"There are {', '.join(names)}.",
        )
    value = arguments.get(chosen.argument, "").strip()
    if not value or len(value) > LONGEST_ARGUMENT:
        raise Invalid(
            f"The prompt '{name}' requires '{chosen.argument}' with 1 to {LONGEST_ARGUMENT} characters.",
            remedy=chosen.argument_description,
        )
    return chosen.description, chosen.text.replace("{" + chosen.argument + "}", value)
