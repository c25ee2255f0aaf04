"""Asks a model for an answer of a given shape: by its structured output, else by prompt. The answer is validated."""

import json
from typing import Any

from pydantic import JsonValue

from headgate.components.chat import answering, as_evidence, conversation, cut_off, failed, record_answer_usage
from headgate.components.data.json_text import parse_json
from headgate.components.isolated.calls import find_schema_problems
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import clipped, listed
from headgate.sdk import ComponentError, Model, RunContext
from headgate.sdk.answers import is_cut

_TRIES = 2
_REFUSING = frozenset({400, 404, 422, 501})
"""Status codes of servers that do not support JSON schemas for output."""
_REFUSING_CODES = frozenset({"model_request_refused", "broken_model_answer"})
"""Headgate's error codes for the same."""


class UnfitAnswer(ComponentError):
    """The model's last answer does not match the schema; `value` is its JSON, None when it is none."""

    value: JsonValue = None


class StructuredAnswer:
    """One request for a JSON object of a schema.

    Args:
        ctx: The context of the step.
        model: The model, with its parameters.
        subject: The component, for errors.
    """

    def __init__(self, ctx: RunContext, model: Model, *, subject: str) -> None:
        self._ctx = ctx
        self._model = model
        self._subject = subject

    async def ask(self, prompt: str, schema: dict[str, JsonValue]) -> JsonValue:
        """Return the answer. Raises `UnfitAnswer`, and the errors of the model."""
        chat = await self._ctx.chat_model(self._model)
        answer = await self._native(chat, prompt, schema)
        if answer is not None and not await find_schema_problems(self._ctx, answer, schema):
            return answer
        return await self._prompted(chat, prompt, schema)

    async def _native(self, chat: Any, prompt: str, schema: dict[str, JsonValue]) -> JsonValue:  # noqa: ANN401
        """Return the provider's own structured output; null when it has none or returned none."""
        await self._ctx.check_cancelled()
        try:
            asking = chat.with_structured_output({**schema, "title": "answer"}, method="json_schema", include_raw=True)
            self._ctx.record_prompt(as_evidence("", prompt, ()))
            result = await asking.ainvoke(await conversation(self._ctx, self._model, "", prompt, ()))
        except (NotImplementedError, ValueError, TypeError):
            return None
        except Exception as error:
            if not refuses_schemas(error):
                raise failed(self._model, error) from error
            return None
        model = answering(chat, self._model)
        record_answer_usage(self._ctx, model, result["raw"])
        if is_cut(result["raw"]):
            raise cut_off(model, str(result["raw"].text))
        parsed: JsonValue = result["parsed"]
        return parsed

    async def _prompted(self, chat: Any, prompt: str, schema: dict[str, JsonValue]) -> JsonValue:  # noqa: ANN401
        """Request JSON by prompt, validate, and retry once. Raises `UnfitAnswer` with the last faults."""
        model = self._model
        shape = json.dumps(schema, ensure_ascii=False)
        question = f"{prompt}\n\nAnswer with JSON only, no other words, after this JSON Schema:\n{shape}"
        faults: list[str] = []
        last = ""
        value: JsonValue = None
        for _ in range(_TRIES):
            text = question
            if faults:
                text += f"\n\nYour last answer was:\n{clipped(last, 2000)}\nIt was wrong: {listed(faults)}. Correct it."
            await self._ctx.check_cancelled()
            self._ctx.record_prompt(as_evidence("", text, ()))
            try:
                response = await chat.ainvoke(await conversation(self._ctx, self._model, "", text, ()))
            except Exception as error:
                raise failed(model, error) from error
            model = answering(chat, model)
            record_answer_usage(self._ctx, model, response)
            last = str(response.text)
            if is_cut(response):
                raise cut_off(model, last)
            value, faults = await self._checked(last, schema)
            if not faults:
                return value
        raise self._unfit(model, last, value, faults)

    async def _checked(self, text: str, schema: dict[str, JsonValue]) -> tuple[JsonValue, list[str]]:
        """Return the answer as JSON, and its faults."""
        try:
            value = parse_json(text, subject=self._subject)
        except ComponentError as error:
            return None, [error.detail]
        return value, await find_schema_problems(self._ctx, value, schema)

    def _unfit(self, model: Model, text: str, value: JsonValue, faults: list[str]) -> UnfitAnswer:
        error = UnfitAnswer(
            f"{self._subject}: the answer of {model} does not match the schema: {listed(faults)}. Its "
            f"answer: {clipped(text, 200)}",
            remedy="Simplify the schema, describe its fields, or choose a stronger model.",
            answer=clipped(text, 2000),
        )
        error.value = value
        return error


def refuses_schemas(error: BaseException) -> bool:
    """Return whether a server rejected JSON schemas, rather than being down or rejecting the key."""
    current: BaseException | None = error
    while current is not None:
        if getattr(current, "status_code", None) in _REFUSING:
            return True
        if isinstance(current, HeadgateError) and current.code in _REFUSING_CODES:
            return True
        current = current.__cause__ or current.__context__
    return False
