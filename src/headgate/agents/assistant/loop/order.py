"""The order in which the tool calls of one message are executed. Imports LangChain."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, ToolCall

from headgate.agents.assistant.loop.calls import runs_last


@dataclass(slots=True)
class CallOrder:
    """Executes the calls of a message one after another, in their order; runs come last, with the message's edits."""

    _waiting: list[str] = field(default_factory=list)
    _running: bool = False
    _moved: asyncio.Condition = field(default_factory=asyncio.Condition)

    def expect(self, message: AIMessage) -> None:
        """The calls that come next."""
        self._waiting = [_key(call) for call in sorted(message.tool_calls, key=lambda call: runs_last(call["name"]))]

    @asynccontextmanager
    async def turn_of(self, call: ToolCall) -> AsyncIterator[None]:
        """Wait until every call before this one is done."""
        key = _key(call)
        async with self._moved:
            await self._moved.wait_for(lambda: self._is_next(key))
            self._running = True
        yield  # a cancelled call lets no other begin: the complete turn is cancelled with it
        async with self._moved:
            self._running = False
            if key in self._waiting:
                self._waiting.remove(key)
            self._moved.notify_all()

    def _is_next(self, key: str) -> bool:
        return not self._running and (key not in self._waiting or self._waiting[0] == key)


def _key(call: ToolCall) -> str:
    return f"{call['id']} {call['name']}"
