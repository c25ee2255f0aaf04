"""A scripted server that speaks Anthropic's messages, streamed and whole."""

import json
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from tests.support.scripted_server import Asked, Drop, Pause, Reply, Script, ScriptedServer, Step, json_reply

SIGNATURE = "c2lnbmVkLXRob3VnaHQ="
"""Of every thought."""
Block = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]
"""A block of an answer: whole, as it begins in a stream, and what is streamed of it."""


class AnthropicServer(ScriptedServer):
    """`with AnthropicServer() as server: server.script(server.text("Hi"))`; the base URL is `server.base_url`."""

    model_list: Reply | None = json_reply({}, status=404)

    _calls = count(1)

    @property
    def base_url(self) -> str:
        return self.origin

    def text(
        self, text: str, *, tokens: tuple[int, int] = (7, 3), finish: str = "end_turn", thought: str = ""
    ) -> Script:
        """An answer in words, in three pieces when streamed."""
        return _script([*_thinking(thought), _words(text)], finish, tokens)

    def tool_call(
        self, name: str, arguments: Mapping[str, Any], *, tokens: tuple[int, int] = (9, 5), thought: str = ""
    ) -> Script:
        """A call of one tool, its arguments in pieces when streamed."""
        return _script([*_thinking(thought), self._use(name, arguments)], "tool_use", tokens)

    def cut_in_call(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        """A stream that ends as if all were well, in the middle of a call's arguments."""
        _, empty, deltas = self._use(name, arguments)
        start = _event({"type": "message_start", "message": {**_message((9, 1)), "content": []}})
        return _events([start, *_block(0, empty, deltas[:2])[:-1]])

    def half_call(self, name: str, written: str, *, finish: str = "max_tokens") -> Script:
        """A streamed call whose arguments are what was written until the output limit, whatever `finish` says."""
        block, empty, _ = self._use(name, {})
        return _script([(block, empty, [{"type": "input_json_delta", "partial_json": written}])], finish, (9, 5))

    def _use(self, name: str, arguments: Mapping[str, Any]) -> Block:
        block = {"type": "tool_use", "id": f"toolu_{next(self._calls)}", "name": name, "input": dict(arguments)}
        pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(arguments))]
        return block, {**block, "input": {}}, pieces

    def structured(self, value: Mapping[str, Any]) -> Script:
        """An answer to a forced tool call: how this provider's package asks for structured output."""

        def script(asked: Asked) -> Reply:
            tools = asked.body.get("tools")
            made = self.tool_call(tools[0]["name"], value) if tools else self.text(json.dumps(value))
            return made(asked)

        return script

    def error(
        self, status: int, message: str, *, kind: str = "api_error", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """An error as Anthropic words it."""
        return json_reply(
            {"type": "error", "error": {"type": kind, "message": message}}, status=status, headers=headers
        )

    def wrong_key(self, message: str) -> Reply:
        return self.error(401, message, kind="authentication_error")

    def no_such_model(self, name: str) -> Reply:
        return self.error(404, f"model: {name}", kind="not_found_error")

    def rate_limited(self, seconds: int) -> Reply:
        message = "This request would exceed your organization's rate limit."
        return self.error(429, message, kind="rate_limit_error", headers={"retry-after": str(seconds)})

    def out_of_money(self) -> Reply:
        message = "Your credit balance is too low to access the Anthropic API."
        return self.error(400, message, kind="invalid_request_error")

    def too_long(self) -> Reply:
        return self.error(400, "prompt is too long: 210000 tokens > 200000 maximum", kind="invalid_request_error")

    def overloaded(self) -> Reply:
        return self.error(529, "Overloaded", kind="overloaded_error")

    def stream_error(self) -> Reply:
        """A stream that turns into an error half way."""
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return _events([*_half(), _event(error)])

    def reset_half_way(self) -> Reply:
        return _events([*_half(), Drop()])

    def cut_off(self) -> Reply:
        """A stream that ends as if all were well, before its last mark."""
        return _events(_half())

    def slow(self, seconds: float) -> Reply:
        return Reply((Pause(seconds), json.dumps({}).encode()), headers={"content-length": "2"})

    def slow_stream(self, seconds: float) -> Reply:
        return _events([*_half(), Pause(seconds)])


def _words(text: str) -> Block:
    pieces = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
    return {"type": "text", "text": text}, {"type": "text", "text": ""}, pieces


def _thinking(thought: str) -> list[Block]:
    """What the model thinks before it answers, with the signature that has to come back with it; none without one."""
    if not thought:
        return []
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thought)]
    deltas.append({"type": "signature_delta", "signature": SIGNATURE})
    block = {"type": "thinking", "thinking": thought, "signature": SIGNATURE}
    return [(block, {"type": "thinking", "thinking": "", "signature": ""}, deltas)]


def _block(index: int, empty: dict[str, Any], deltas: list[dict[str, Any]]) -> list[bytes]:
    return [
        _event({"type": "content_block_start", "index": index, "content_block": empty}),
        *(_event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas),
        _event({"type": "content_block_stop", "index": index}),
    ]


def _script(blocks: list[Block], finish: str, tokens: tuple[int, int]) -> Script:
    def script(asked: Asked) -> Reply:
        if not asked.streaming:
            content = [block for block, _, _ in blocks]
            return json_reply({**_message(tokens), "content": content, "stop_reason": finish})
        steps = [
            _event({"type": "message_start", "message": {**_message((tokens[0], 1)), "content": []}}),
            *(step for number, (_, empty, deltas) in enumerate(blocks) for step in _block(number, empty, deltas)),
            _event(
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": finish, "stop_sequence": None},
                    "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
                }
            ),
            _event({"type": "message_stop"}),
        ]
        return _events(steps)

    return script


def _message(tokens: tuple[int, int]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }


def _half() -> list[Step]:
    return [
        _event({"type": "message_start", "message": {**_message((7, 1)), "content": []}}),
        _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        _event({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hal"}}),
    ]


def _events(steps: Iterable[Step]) -> Reply:
    return Reply(tuple(steps), media_type="text/event-stream", chunked=True)


def _event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    third = max(1, -(-len(text) // 3))
    return [text[start : start + third] for start in range(0, len(text), third)]
