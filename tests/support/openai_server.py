"""A scripted server that speaks OpenAI's chat completions, streamed and whole."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from tests.support.scripted_server import Asked, Drop, Hold, Pause, Reply, Script, ScriptedServer, Step, json_reply

_DONE = b"data: [DONE]\n\n"
_CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


class OpenAIServer(ScriptedServer):
    """`with OpenAIServer() as server: server.script(server.text("Hi"))`; the base URL is `server.base_url`."""

    model_list: Reply | None = json_reply({}, status=404)
    _calls = count(1)
    usage_beside_the_end = False
    """Whether streamed usage comes as Groq sends it: in the chunk that ends the answer."""

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def text(self, text: str, *, tokens: tuple[int, int] = (7, 3), finish: str = "stop") -> Script:
        """An answer in words, in three pieces when streamed."""

        def script(asked: Asked) -> Reply:
            if asked.streaming:
                return self._stream(asked, [{"content": piece} for piece in _pieces(text)], finish, tokens)
            return _whole({"role": "assistant", "content": text}, finish=finish, tokens=tokens)

        return script

    def tool_call(self, name: str, arguments: Mapping[str, Any], *, tokens: tuple[int, int] = (9, 5)) -> Script:
        """A call of one tool, its arguments in pieces when streamed."""
        written = json.dumps(arguments)
        number = next(self._calls)

        def script(asked: Asked) -> Reply:
            call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": written}}
            if not asked.streaming:
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
                return _whole(message, finish="tool_calls", tokens=tokens)
            deltas: list[dict[str, Any]] = [
                {"tool_calls": [{**call, "index": 0, "function": {"name": name, "arguments": ""}}]}
            ]
            deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in _pieces(written)]
            return self._stream(asked, deltas, "tool_calls", tokens)

        return script

    def tool_calls(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> Script:
        """Several calls in one streamed message."""
        made = [
            {
                "index": index,
                "id": f"call_{next(self._calls)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
        return lambda asked: self._stream(asked, [{"tool_calls": made}], "tool_calls", (9, 5))

    def half_call(self, name: str, written: str, *, finish: str = "length") -> Script:
        """A streamed call whose arguments are what was written until the output limit, whatever `finish` says."""

        def script(asked: Asked) -> Reply:
            call = {"index": 0, "id": "call_half", "type": "function", "function": {"name": name, "arguments": written}}
            return self._stream(asked, [{"tool_calls": [call]}], finish, (9, 5))

        return script

    def cut_in_call(self, name: str, arguments: Mapping[str, Any]) -> Reply:
        """A stream that ends as if all were well, in the middle of a call's arguments."""
        start = {"index": 0, "id": "call_cut", "type": "function", "function": {"name": name, "arguments": ""}}
        piece = {"index": 0, "function": {"arguments": _pieces(json.dumps(arguments))[0]}}
        return _events([_chunk({"tool_calls": [start]}), _chunk({"tool_calls": [piece]})])

    def structured(self, value: Mapping[str, Any]) -> Script:
        """An answer that holds to the JSON schema it was asked with."""
        return self.text(json.dumps(value))

    def error(
        self, status: int, message: str, *, code: str = "", kind: str = "", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """An error as OpenAI words it."""
        body = {"error": {"message": message, "type": kind or "invalid_request_error", "param": None, "code": code}}
        return json_reply(body, status=status, headers=headers)

    def wrong_key(self, message: str) -> Reply:
        return self.error(401, message, code="invalid_api_key")

    def no_such_model(self, name: str) -> Reply:
        return self.error(
            404, f"The model `{name}` does not exist or you do not have access to it.", code="model_not_found"
        )

    def rate_limited(self, seconds: int) -> Reply:
        message = "Rate limit reached for requests per minute."
        return self.error(429, message, code="rate_limit_exceeded", headers={"retry-after": str(seconds)})

    def out_of_money(self) -> Reply:
        return self.error(429, "You exceeded your current quota, please check your plan.", code="insufficient_quota")

    def too_long(self) -> Reply:
        message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
        return self.error(400, message, code="context_length_exceeded")

    def overloaded(self) -> Reply:
        return self.error(503, "The engine is currently overloaded.", kind="server_error")

    def stream_error(self) -> Reply:
        """A stream that turns into an error half way."""
        error = {
            "error": {"message": "The server had an error while processing.", "type": "server_error", "code": None}
        }
        return _events([_chunk({"content": "Hal"}), _event(error)])

    def reset_half_way(self) -> Reply:
        return _events([_chunk({"content": "Hal"}), Drop()])

    def cut_off(self) -> Reply:
        """A stream that ends as if all were well, before its last mark."""
        return _events([_chunk({"content": "Hal"})])

    def slow(self, seconds: float) -> Reply:
        return Reply((Pause(seconds), json.dumps({}).encode()), headers={"content-length": "2"})

    def slow_text(self, text: str, seconds: float) -> Script:
        """An answer in words after a while."""
        return self._after(Pause(seconds), text)

    def held_text(self, text: str, hold: Hold) -> Script:
        """An answer in words that waits until the test lets it go."""
        return self._after(hold, text)

    def _after(self, first: Pause | Hold, text: str) -> Script:
        made = self.text(text)
        return lambda asked: replace(reply := made(asked), steps=(first, *reply.steps))

    def pieces(self, *pieces: str | Hold) -> Script:
        """A streamed answer in these pieces; at a hold it waits until the test lets it go."""
        parts = [piece if isinstance(piece, Hold) else {"content": piece} for piece in pieces]
        return lambda asked: self._stream(asked, parts, "stop", (7, 3))

    def slow_stream(self, seconds: float) -> Reply:
        return _events([_chunk({"content": "Hal"}), Pause(seconds), _DONE])

    def _stream(
        self, asked: Asked, deltas: Iterable[dict[str, Any] | Hold], finish: str, tokens: tuple[int, int]
    ) -> Reply:
        steps: list[Step] = [_chunk({"role": "assistant", "content": ""})]
        steps += [delta if isinstance(delta, Hold) else _chunk(delta) for delta in deltas]
        if self.usage_beside_the_end:
            steps.append(_chunk({}, finish=finish, x_groq={"usage": _usage(tokens)}))
        else:
            steps.append(_chunk({}, finish=finish))
            if asked.body.get("stream_options", {}).get("include_usage"):
                steps.append(_event({**_CHUNK, "choices": [], "usage": _usage(tokens)}))
        return _events([*steps, _DONE])


def _whole(message: dict[str, Any], *, finish: str, tokens: tuple[int, int]) -> Reply:
    return json_reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": _usage(tokens),
        }
    )


def _events(steps: Iterable[Step]) -> Reply:
    return Reply(tuple(steps), media_type="text/event-stream", chunked=True)


def _chunk(delta: dict[str, Any], *, finish: str | None = None, **beside: Any) -> bytes:
    return _event({**_CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **beside})


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}


def _pieces(text: str) -> list[str]:
    third = max(1, -(-len(text) // 3))
    return [text[start : start + third] for start in range(0, len(text), third)]
