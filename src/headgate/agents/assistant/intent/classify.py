"""Classifies a request with a model, using the last turns and the canvas (ADR 0028). Imports LangChain."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import orjson
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, Field

from headgate.agents.assistant.intent.intents import DEFAULT, INTENTS, Intent, IntentResult
from headgate.agents.assistant.intent.known import deterministic
from headgate.agents.assistant.intent.running import asks_to_run
from headgate.agents.assistant.turn.usage import Tokens
from headgate.features.models.errors import BrokenModelAnswer, RequestRefused
from headgate.foundation.log import get_logger
from headgate.foundation.quoting import clipped_to

_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL | re.IGNORECASE)
_EMBEDDED = re.compile(r"\{[^{}]{0,4000}\"intent\"[^{}]{0,4000}\}", re.DOTALL)
_NAMED = re.compile(rf"\b({'|'.join(INTENTS)})\b", re.IGNORECASE)
MAX_CHARACTERS = 20_000


def read_answer(text: str, request: str) -> tuple[Intent, str]:
    """The intent and the translation.

    In this order: the complete answer as JSON, JSON in a Markdown fence, a JSON object within other text, the name of
    an intent if only one is named. Otherwise: a question, and the original request.
    """
    text = text.strip()[:MAX_CHARACTERS]
    for answer in _objects(text):
        intent = _intent_of(answer.get("intent"))
        if intent is not None:
            translation = answer.get("translation")
            return intent, translation.strip() if isinstance(translation, str) and translation.strip() else request
    named = {name.lower() for name in _NAMED.findall(text)}
    only = _intent_of(named.pop()) if len(named) == 1 else None
    return only or DEFAULT, request


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    for candidate in (text, *_FENCED.findall(text), *_EMBEDDED.findall(text)):
        try:
            content = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, Mapping):
            yield content


def _intent_of(value: object) -> Intent | None:
    name = value.strip().lower() if isinstance(value, str) else ""
    return next((intent for intent in INTENTS if intent == name), None)


PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")
MAX_REQUEST_CHARACTERS = 8_000
_ALONE: RunnableConfig = {"callbacks": []}
log = get_logger("headgate.agents.assistant")


class Answer(BaseModel):
    """The request in English, and its intent."""

    translation: str = Field(description="The request in English.")
    intent: Intent = Field(description="The one intent that the request has.")


@runtime_checkable
class KnowsIntents(Protocol):
    """A model that classifies requests itself, without a prompt."""

    def intent_of(self, text: str) -> Intent:
        """Return the intent of the request."""


async def classify(model: BaseChatModel, text: str, *, context: str = "", structured: bool = True) -> IntentResult:
    """Return the intent of a request, and its translation to English.

    Args:
        model: The classifying model, created with a limit of `intents.MAX_OUTPUT_TOKENS`.
        text: The request as it came, quoted parts and all.
        context: The last turns and the canvas, abridged and quoted; empty when there are none.
        structured: Whether to require a JSON schema; if the model rejects that, it is called again without one.

    Raises `HeadgateError` when the model is not available.
    """
    known = deterministic(text)
    if known is not None:
        return known
    if isinstance(model, KnowsIntents):
        return IntentResult(model.intent_of(text), text, Tokens())
    asked = context + clipped_to(text, MAX_REQUEST_CHARACTERS)
    answer, tokens = await _ask(model, asked, structured=structured)
    intent, english = read_answer(answer, text)
    return _rescued(IntentResult(intent, english, tokens), text)


def _rescued(result: IntentResult, text: str) -> IntentResult:
    """Change a `question` that clearly requests a run to `run_flow`; nothing else is overruled."""
    if result.intent == "question" and (asks_to_run(result.english) or asks_to_run(text)):
        return IntentResult("run_flow", result.english, result.tokens)
    return result


async def _ask(model: BaseChatModel, text: str, *, structured: bool) -> tuple[str, Tokens]:
    """Return the model's answer as text, and the tokens of all calls."""
    messages = [SystemMessage(PROMPT), HumanMessage(text)]
    tokens = Tokens()
    asker = _held_to_schema(model) if structured else None
    if asker is not None:
        try:
            response: Any = await asker.ainvoke(messages, config=_ALONE)
        except RequestRefused:  # a server that takes no schema
            log.info("assistant.intent.unstructured")
        except BrokenModelAnswer as error:  # cut off at the ceiling
            tokens.add(*error.used)
            return error.words, tokens
        else:
            message = response["raw"]
            return _text_of(message), _counted(tokens, message)
    answer = await model.ainvoke(messages, config=_ALONE)
    return _text_of(answer), _counted(tokens, answer)


def _held_to_schema(model: BaseChatModel) -> Runnable[Any, Any] | None:
    try:
        # A JSON schema instead of a class: OpenAI's library parses answers for a class itself, and what it cannot parse
        # it drops with its tokens.
        return model.with_structured_output(Answer.model_json_schema(), include_raw=True)
    except (NotImplementedError, ValueError):  # the library does not support a schema for this model
        return None


def _text_of(message: AIMessage) -> str:
    """Return the answer's text, or the arguments of the tool call that some libraries use for a schema."""
    for call in message.tool_calls:
        return orjson.dumps(call["args"]).decode()
    return message.text


def _counted(tokens: Tokens, message: AIMessage) -> Tokens:
    usage = message.usage_metadata
    if usage is not None:
        tokens.add(usage["input_tokens"], usage["output_tokens"])
    return tokens
