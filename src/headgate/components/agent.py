"""A model that works in steps with tools."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.chat import (
    ModelStep,
    as_evidence,
    conversation,
    failed,
    input_files,
    input_text,
    model_field,
    record_answer_usage,
    temperature_field,
    with_temperature,
)
from headgate.foundation.errors import Cancelled, HeadgateError, UpstreamFailed
from headgate.graph.names import free_name
from headgate.graph.template import FieldKind
from headgate.sdk import ComponentError, Data, Message, Model, Text, Tool, field, output
from headgate.sdk.coerce import text_of

_LONGEST_RESULT = 50_000
"""Most characters of a tool's result that go back to the model."""


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
    input: str | Message = field(label="Input", help="The task or question.", main=True)
    instructions: str = field(
        default="",
        label="Instructions",
        help="Who the agent is, what it should and should not do.",
        kind=FieldKind.MULTILINE,
    )
    max_steps: int = field(
        default=8, label="Most steps", help="How often the model may be asked before the step fails.", ge=1, le=100
    )
    temperature: float | None = temperature_field()
    _response: str | None = PrivateAttr(default=None)
    _calls: list[JsonValue] = PrivateAttr(default_factory=list)

    @output(help="The agent's answer.")
    async def response(self) -> Text:
        """The last answer; the agent runs once a step."""
        if self._response is None:
            self._response = await self._run()
        return self._response

    @output(help="The answer as a message of role assistant.")
    async def message(self) -> Message:
        """The answer as a message."""
        return Message(role="assistant", text=await self.response())

    @output(help="The tool calls in order: a list of objects with name, arguments and result or error.")
    async def calls(self) -> Data:
        """What the agent called."""
        await self.response()
        return self._calls

    async def _run(self) -> str:
        model = with_temperature(self.model, self.temperature)
        text, files = input_text(self.input), input_files(self.input)
        messages = await conversation(self.ctx, "", text, files)
        chat = await self.ctx.chat_model(model)
        self.ctx.record_prompt(as_evidence(self.instructions, text, files))
        agent = _agent(chat, [(tool, self._caller(tool)) for tool in with_own_names(self.tools)], self.instructions)
        answer = ""
        try:
            # a step is a turn of the model and a turn of its tools; the last one has no tools
            limit = {"recursion_limit": 2 * self.max_steps}
            stream = agent.astream({"messages": messages}, config=limit, stream_mode=["messages", "updates"])
            async for mode, event in stream:
                if mode == "messages":
                    await self._show(event)
                else:
                    answer = self._taken(model, event) or answer
        except HeadgateError:
            raise
        except RecursionError as error:
            raise self._too_long() from error
        except NotImplementedError as error:
            raise ComponentError(
                f"Agent: {model} cannot call tools.", remedy="Choose a model that can.", field="model"
            ) from error
        except Exception as error:
            raise failed(model, error) from error
        if not answer.strip():
            raise UpstreamFailed(f"Agent: {model} answered with nothing.", remedy="Try other instructions or a model.")
        return answer

    async def _show(self, event: tuple[Any, dict[str, Any]]) -> None:
        """Emit the words of the model, not the results of tools."""
        message, about = event
        if about.get("langgraph_node") == "model" and message.type in {"ai", "AIMessageChunk"} and message.text:
            await self.ctx.emit(str(message.text))

    def _taken(self, model: Model, update: dict[str, Any]) -> str:
        """Count a turn of the model; its words when it ended there, else nothing."""
        words = ""
        for message in (update.get("model") or {}).get("messages", []):
            record_answer_usage(self.ctx, model, message)
            words = "" if getattr(message, "tool_calls", None) else str(message.text)
        return words

    def _too_long(self) -> ComponentError:
        names = ", ".join(str(call["name"]) for call in self._calls[-3:] if isinstance(call, dict))
        return ComponentError(
            f"Agent: no answer after {self.max_steps} steps; it last called {names or 'no tool'}.",
            remedy="Raise 'max_steps', narrow the task, or say in the instructions when to stop.",
            field="max_steps",
        )

    def _caller(self, tool: Tool) -> Any:  # noqa: ANN401 - a coroutine function with free keyword arguments
        async def call(**arguments: JsonValue) -> str:
            """Call the tool; what it refuses is an answer to the model, not the end of the run."""
            await self.ctx.check_cancelled()
            try:
                result = await tool.call(arguments)
            except Cancelled:
                raise
            except HeadgateError as error:
                self._calls.append({"name": tool.name, "arguments": arguments, "error": str(error)})
                self.ctx.record_tool_call(tool.name, arguments, {"error": str(error)})
                return f"Error: {error}"
            self._calls.append({"name": tool.name, "arguments": arguments, "result": result})
            self.ctx.record_tool_call(tool.name, arguments, result)
            text = text_of(result)
            return (
                text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT]}\n... (cut, {len(text)} characters)"
            )

        return call


def with_own_names(tools: Sequence[Tool]) -> list[Tool]:
    """The tools with names unlike each other: a second `calculator` becomes `calculator_2`."""
    named: list[Tool] = []
    for tool in tools:
        name = free_name(tool.name, [other.name for other in named])
        named.append(Tool(name=name, description=tool.description, parameters=tool.parameters, call=tool.call))
    return named


def _agent(chat: Any, tools: Sequence[tuple[Tool, Any]], instructions: str) -> Any:  # noqa: ANN401 - LangChain's
    """A LangChain agent over the tools; LangChain is imported when first used."""
    from langchain.agents import create_agent  # noqa: PLC0415
    from langchain_core.tools import StructuredTool  # noqa: PLC0415

    callable_tools = [
        StructuredTool(name=tool.name, description=tool.description, args_schema=tool.parameters, coroutine=call)
        for tool, call in tools
    ]
    return create_agent(chat, callable_tools, system_prompt=instructions.strip() or None)
