"""A model that calls tools until it can answer, shared by Agent and AIStep."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from headgate.components.chat import answering, as_evidence, conversation, failed, message_kinds, record_answer_usage
from headgate.foundation.errors import Cancelled, HeadgateError, UpstreamFailed
from headgate.graph.names import free_name
from headgate.sdk import ComponentError, File, Model, RunContext, Tool
from headgate.sdk.answers import MOST_CORRECTIONS, Fault, fault_of, placeholder
from headgate.sdk.calls import CallRequest, messages_as_sent
from headgate.sdk.coerce import text_of
from headgate.sdk.outside import decided_by_model, for_model, merged
from headgate.sdk.tools import call_tool
from headgate.sdk.waiting import StepWaits, first_of

_CONVERSATION: ContextVar[str | None] = ContextVar("headgate_conversation", default=None)
"""Digest of the conversation in which a model requested the current tool call."""
LONGEST_RESULT = 50_000
"""Maximum characters of a tool's result that are sent back to the model."""


@dataclass
class ToolLoop:
    """One task for a model with tools.

    Args:
        ctx: The step's run context.
        subject: The component, for errors.
        model: The model.
        tools: The available tools.
        max_steps: Maximum model calls.
    """

    ctx: RunContext
    subject: str
    model: Model
    tools: Sequence[Tool]
    max_steps: int
    calls: list[JsonValue] = field(default_factory=list)
    """The calls so far: objects with name, arguments and result or error."""
    waits: list[StepWaits] = field(default_factory=list)
    """Calls that wait, for example for approval. The others of the same model output are made first."""

    async def run(self, *, system: str, text: str, files: Sequence[File] = ()) -> str:
        """Return the model's final output. Emits tokens; records prompt, usage and calls.

        Raises the model's own `HeadgateError`, `ComponentError` when it did not finish in time or does not support
        tools, `UpstreamFailed` for other failures and for an empty output, and `StepWaits` while a tool call waits.
        """
        messages = await conversation(self.ctx, self.model, "", text, files)
        chat = await self.ctx.chat_model(self.model)
        self.ctx.record_prompt(as_evidence(system, text, files))
        unique_tools = with_own_names(self.tools)
        caller = _Asker(self, chat, [tool.name for tool in unique_tools])
        agent = _agent(chat, [(tool, self._caller(tool)) for tool in unique_tools], system, caller)
        try:
            output = await self._follow(agent, messages)
        except (HeadgateError, StepWaits):
            raise
        except RecursionError as error:
            raise (first_of(self.waits) if self.waits else self._too_long()) from error
        except NotImplementedError as error:
            raise ComponentError(
                f"{self.subject}: {self.model} does not support tool calls.",
                remedy=("Choose a model that supports them."),
                field="model",
            ) from error
        except Exception as error:
            raise failed(self.model, error) from error
        return output

    async def _follow(self, agent: Any, messages: list[Any]) -> str:  # noqa: ANN401 - LangChain's
        output = ""
        # a step is a model turn and a tool turn; the last one has no tools
        limit = {"recursion_limit": 2 * self.max_steps}
        stream = agent.astream({"messages": messages}, config=limit, stream_mode=["messages", "updates"])
        async for mode, event in stream:
            if mode == "messages":
                await self._show(event)
            else:
                output = self._taken(event) or output
        return output

    async def _show(self, event: tuple[Any, dict[str, Any]]) -> None:
        """Emit the model's text, not the results of tools."""
        message, metadata = event
        if metadata.get("langgraph_node") == "model" and message.type in {"ai", "AIMessageChunk"} and message.text:
            await self.ctx.emit(str(message.text))

    def _taken(self, update: dict[str, Any]) -> str:
        """Return the model's text when it ended there, else empty."""
        messages = (update.get("model") or {}).get("messages", [])
        if not messages or getattr(messages[-1], "tool_calls", None):
            return ""
        return str(messages[-1].text)

    def _too_long(self) -> ComponentError:
        names = ", ".join(str(call["name"]) for call in self.calls[-3:] if isinstance(call, dict))
        return ComponentError(
            f"{self.subject}: no answer after {self.max_steps} steps; it last called {names or 'no tool'}.",
            remedy="Raise 'max_steps', narrow the task, or say in the instructions when to stop.",
            field="max_steps",
        )

    def _caller(self, tool: Tool) -> Any:  # noqa: ANN401 - a coroutine function with free keyword arguments
        async def call(**arguments: JsonValue) -> str:
            """Call the tool; an error becomes its result for the model and does not fail the run."""
            record: dict[str, JsonValue] = {"name": tool.full_name, "arguments": arguments}
            with decided_by_model(tool.full_name) as decided:
                try:
                    result = await call_tool(self.ctx, tool, arguments, conversation=_CONVERSATION.get())
                except Cancelled:
                    raise
                except StepWaits as wait:
                    self.waits.append(wait)
                    return ""
                except HeadgateError as error:
                    self.calls.append(record | {"error": str(error)})
                    return for_model(f"Error: {error}", merged(decided.marks))
            self.calls.append(record | {"result": result})
            text = text_of(result)
            if len(text) > LONGEST_RESULT:
                text = f"{text[:LONGEST_RESULT]}\n... (cut, {len(text)} characters)"
            return for_model(text, merged(decided.marks))

        return call


@dataclass(frozen=True, slots=True)
class _Asker:
    """Calls the model until its output is usable; unusable outputs are sent back, and none of their calls is executed.

    Raises `UpstreamFailed` when no output was usable, and `StepWaits` when a call waits.
    """

    loop: ToolLoop
    chat: Any
    """The LangChain model."""
    tools: Sequence[str]

    async def __call__(self, request: Any, handler: Any) -> Any:  # noqa: ANN401 - LangChain's
        if self.loop.waits:
            raise first_of(self.loop.waits)
        result: list[Any] = []
        for attempt in range(MOST_CORRECTIONS + 1):
            response = await handler(request)
            output = response.result[-1]
            record_answer_usage(self.loop.ctx, answering(self.chat, self.loop.model), output)
            fault = fault_of(output, self.tools)
            if fault is None:
                response.result = [*result, *response.result]
                return response
            if attempt == MOST_CORRECTIONS:
                raise self._unusable(fault)
            self.loop.ctx.log(f"The model {fault.detail}; it is called again.", attempt=attempt + 1)
            result += _sent_back(output, fault)
            request = request.override(messages=[*request.messages, *_sent_back(output, fault)])
        raise AssertionError("unreachable")

    def _unusable(self, fault: Fault) -> UpstreamFailed:
        times = MOST_CORRECTIONS + 1
        model = answering(self.chat, self.loop.model)
        return UpstreamFailed(
            f"{self.loop.subject}: {model} {fault.detail}. It was called {times} times.", remedy=fault.remedy
        )


def _sent_back(output: Any, fault: Fault) -> list[Any]:  # noqa: ANN401 - LangChain's messages
    """Return the output without its calls, and the correction."""
    kinds = message_kinds()
    return [kinds.AIMessage(placeholder(output)), kinds.HumanMessage(fault.correction)]


def with_own_names(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools with unique names: a second `calculator` becomes `calculator_2`."""
    unique_tools: list[Tool] = []
    for tool in tools:
        unique_tools.append(replace(tool, name=free_name(tool.name, [other_tool.name for other_tool in unique_tools])))
    return unique_tools


def _agent(chat: Any, tools: Sequence[tuple[Tool, Any]], instructions: str, caller: _Asker) -> Any:  # noqa: ANN401 - LangChain's
    """Return a LangChain agent with the tools; LangChain is imported when first used."""
    from langchain.agents import create_agent  # noqa: PLC0415
    from langchain.agents.middleware import wrap_model_call, wrap_tool_call  # noqa: PLC0415
    from langchain_core.tools import StructuredTool  # noqa: PLC0415

    callable_tools = [
        StructuredTool(name=tool.name, description=tool.description, args_schema=tool.parameters, coroutine=call)
        for tool, call in tools
    ]

    @wrap_tool_call
    async def in_its_conversation(request: Any, handler: Any) -> Any:  # noqa: ANN401 - LangChain's
        """Identify the call by its conversation, so that it is the same call in every attempt at the step."""
        conversation = {"messages": messages_as_sent(request.state["messages"]), "call": request.tool_call["id"]}
        token = _CONVERSATION.set(CallRequest.of("tool", "", conversation).digest)
        try:
            return await handler(request)
        finally:
            _CONVERSATION.reset(token)

    @wrap_model_call
    async def until_usable(request: Any, handler: Any) -> Any:  # noqa: ANN401 - LangChain's
        """Call the model until the output is complete."""
        return await caller(request, handler)

    instructed = instructions.strip() or None
    return create_agent(chat, callable_tools, system_prompt=instructed, middleware=[in_its_conversation, until_usable])
