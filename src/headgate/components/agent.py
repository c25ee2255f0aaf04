"""An agent: a model that works in steps with tools."""

from pydantic import JsonValue, PrivateAttr

from headgate.components.chat import (
    ModelStep,
    assistant_field,
    files_field,
    input_files,
    input_text,
    model_field,
    temperature_field,
    with_temperature,
)
from headgate.components.tool_loop import ToolLoop
from headgate.graph.template import FieldKind
from headgate.sdk import Data, File, Message, Model, Text, Tool, field, output
from headgate.sdk.outside import for_model


class Agent(ModelStep):
    """A model that solves a task in several steps: it calls the tools connected to it until it can answer."""

    label = "Agent"
    category = "ai"
    icon = "bot"
    keywords = (
        "assistant", "autonomous", "tools", "tool calling", "function calling", "react", "reason", "plan", "act",
        "chatbot", "research", "llm", "multi-step", "worker", "copilot", "solve", "task",
    )  # fmt: skip

    model: Model = model_field()
    tools: list[Tool] = field(
        default_factory=list,
        label="Tools",
        help="Components the agent may call: connect their tool outputs.",
        many=True,
    )
    input: str | Message = field(
        label="Input", help="The task or question.", main=True, tool_mode=True, schema={"type": "string"}
    )
    files: list[File] = files_field()
    instructions: str = field(
        default="",
        label="Instructions",
        help="Role and instructions of the agent.",
        kind=FieldKind.MULTILINE,
    )
    max_steps: int = field(
        default=8,
        label="Most steps",
        help="How many times the model may be called before the step fails.",
        ge=1,
        le=100,
    )
    temperature: float | None = temperature_field()
    assistant: str = assistant_field()
    _response: str | None = PrivateAttr(default=None)
    _calls: list[JsonValue] = PrivateAttr(default_factory=list)

    @output(help="The agent's answer.")
    async def response(self) -> Text:
        """Return the final output; the agent runs once per step."""
        if self._response is None:
            model = with_temperature(self.model, self.temperature)
            loop = ToolLoop(self.ctx, "Agent", model, self.tools, self.max_steps, self._calls)
            text, files = input_text(self.input), (*input_files(self.input), *self.files)
            task = for_model(text, self.ctx.outside("input"))
            self._response = await loop.run(system=self.instructions, text=task, files=files)
        return self._response

    @output(help="The answer as a message of role assistant.")
    async def message(self) -> Message:
        """Return the output as a message."""
        return Message(role="assistant", text=await self.response())

    @output(help="The tool calls in order: a list of objects with name, arguments and result or error.")
    async def calls(self) -> Data:
        """Return the agent's tool calls."""
        await self.response()
        return self._calls
