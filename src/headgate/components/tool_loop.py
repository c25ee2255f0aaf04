"""A model that calls tools until it can answer: what Agent and AIStep share."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from headgate.components.chat import as_evidence, conversation, failed, record_answer_usage
from headgate.foundation.errors import Cancelled, HeadgateError, UpstreamFailed
from headgate.graph.names import free_name
from headgate.sdk import ComponentError, File, Model, RunContext, Tool
from headgate.sdk.calls import CallRequest, messages_as_sent
from headgate.sdk.coerce import text_of
from headgate.sdk.outside import decided_by_model, for_model, merged
from headgate.sdk.tools import call_tool

_CONVERSATION: ContextVar[str | None] = ContextVar("headgate_conversation", default=None)
"""Digest of the conversation in which a model requested the tool call in progress."""
LONGEST_RESULT = 50_000
"""Most characters of a tool's result that go back to the model."""


@dataclass
class ToolLoop:
    """One task for a model with tools.

    Args:
        ctx: The step's run context.
        who: The component, as errors name it.
        model: The model that is asked.
        tools: What it may call.
        max_steps: How often it may be asked.
    """

    ctx: RunContext
    who: str
    model: Model
    tools: Sequence[Tool]
    max_steps: int
    calls: list[JsonValue] = field(default_factory=list)
    """The calls so far: objects with name, arguments and result or error."""

    async def run(self, *, system: str, text: str, files: Sequence[File] = ()) -> str:
        """The model's last answer. Tokens are shown as they come; prompt, usage and calls are kept.

        Raises the model's own `HeadgateError`, `ComponentError` when it did not end in time or takes no tools, and
        `UpstreamFailed` for other failures and for an empty answer.
        """
        messages = await conversation(self.ctx, self.model, "", text, files)
        chat = await self.ctx.chat_model(self.model)
        self.ctx.record_prompt(as_evidence(system, text, files))
        agent = _agent(chat, [(tool, self._caller(tool)) for tool in with_own_names(self.tools)], system)
        try:
            answer = await self._follow(agent, messages)
        except HeadgateError:
            raise
        except RecursionError as error:
            raise self._too_long() from error
        except NotImplementedError as error:
            raise ComponentError(
                f"{self.who}: {self.model} cannot call tools.", remedy="Choose a model that can.", field="model"
            ) from error
        except Exception as error:
            raise failed(self.model, error) from error
        if not answer.strip():
            raise UpstreamFailed(
                f"{self.who}: {self.model} answered with nothing.", remedy="Try other instructions or a model."
            )
        return answer

    async def _follow(self, agent: Any, messages: list[Any]) -> str:  # noqa: ANN401 - LangChain's
        answer = ""
        # a step is a turn of the model and a turn of its tools; the last one has no tools
        limit = {"recursion_limit": 2 * self.max_steps}
        stream = agent.astream({"messages": messages}, config=limit, stream_mode=["messages", "updates"])
        async for mode, event in stream:
            if mode == "messages":
                await self._show(event)
            else:
                answer = self._taken(event) or answer
        return answer

    async def _show(self, event: tuple[Any, dict[str, Any]]) -> None:
        """Emit the words of the model, not the results of tools."""
        message, about = event
        if about.get("langgraph_node") == "model" and message.type in {"ai", "AIMessageChunk"} and message.text:
            await self.ctx.emit(str(message.text))

    def _taken(self, update: dict[str, Any]) -> str:
        """Count a turn of the model; its words when it ended there, else nothing."""
        words = ""
        for message in (update.get("model") or {}).get("messages", []):
            record_answer_usage(self.ctx, self.model, message)
            words = "" if getattr(message, "tool_calls", None) else str(message.text)
        return words

    def _too_long(self) -> ComponentError:
        names = ", ".join(str(call["name"]) for call in self.calls[-3:] if isinstance(call, dict))
        return ComponentError(
            f"{self.who}: no answer after {self.max_steps} steps; it last called {names or 'no tool'}.",
            remedy="Raise 'max_steps', narrow the task, or say in the instructions when to stop.",
            field="max_steps",
        )

    def _caller(self, tool: Tool) -> Any:  # noqa: ANN401 - a coroutine function with free keyword arguments
        async def call(**arguments: JsonValue) -> str:
            """Call the tool; what it refuses is an answer to the model, not the end of the run."""
            told: dict[str, JsonValue] = {"name": tool.full_name, "arguments": arguments}
            with decided_by_model(tool.full_name) as decided:
                try:
                    result = await call_tool(self.ctx, tool, arguments, conversation=_CONVERSATION.get())
                except Cancelled:
                    raise
                except HeadgateError as error:
                    self.calls.append(told | {"error": str(error)})
                    return for_model(f"Error: {error}", merged(decided.marks))
            self.calls.append(told | {"result": result})
            text = text_of(result)
            if len(text) > LONGEST_RESULT:
                text = f"{text[:LONGEST_RESULT]}\n... (cut, {len(text)} characters)"
            return for_model(text, merged(decided.marks))

        return call


def with_own_names(tools: Sequence[Tool]) -> list[Tool]:
    """The tools with names unlike each other: a second `calculator` becomes `calculator_2`."""
    named: list[Tool] = []
    for tool in tools:
        named.append(replace(tool, name=free_name(tool.name, [other.name for other in named])))
    return named


def _agent(chat: Any, tools: Sequence[tuple[Tool, Any]], instructions: str) -> Any:  # noqa: ANN401 - LangChain's
    """A LangChain agent over the tools; LangChain is imported when first used."""
    from langchain.agents import create_agent  # noqa: PLC0415
    from langchain.agents.middleware import wrap_tool_call  # noqa: PLC0415
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

    instructed = instructions.strip() or None
    return create_agent(chat, callable_tools, system_prompt=instructed, middleware=[in_its_conversation])
