"""Asks a model what a request is, in the light of the last turns and the canvas (ADR 0028). Imports LangChain."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import orjson
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, Field

from headgate.agents.assistant.intent.intents import Intent, IntentResult
from headgate.agents.assistant.intent.known import deterministic
from headgate.agents.assistant.intent.reading import read_answer
from headgate.agents.assistant.intent.running import asks_to_run
from headgate.agents.assistant.turn.usage import Tokens
from headgate.features.models.errors import BrokenModelAnswer, RequestRefused
from headgate.foundation.log import get_logger
from headgate.foundation.quoting import clipped_to

PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")
MAX_REQUEST_CHARACTERS = 8_000
_ALONE: RunnableConfig = {"callbacks": []}
log = get_logger("headgate.agents.assistant")


class Answer(BaseModel):
    """What a request says in English, and its intent."""

    translation: str = Field(description="The request in English.")
    intent: Intent = Field(description="The one intent that the request has.")


@runtime_checkable
class KnowsIntents(Protocol):
    """A model that tells what a request is by itself, without being asked as a model."""

    def intent_of(self, text: str) -> Intent:
        """What the request is."""
        ...


async def classify(model: BaseChatModel, text: str, *, context: str = "", structured: bool = True) -> IntentResult:
    """What a request is, and what it says in English.

    Args:
        model: Who is asked, made with a ceiling of `intents.MAX_OUTPUT_TOKENS`.
        text: The request as it came, quoted parts and all.
        context: The last turns and the canvas in short, quoted; empty when there are none.
        structured: Whether the model is held to a JSON schema; if it refuses that, it is asked again in plain words.

    Raises `HeadgateError` when the model cannot be reached or used.
    """
    known = deterministic(text)
    if known is not None:
        return known
    if isinstance(model, KnowsIntents):
        return IntentResult(model.intent_of(text), text, Tokens())
    asked = context + clipped_to(text, MAX_REQUEST_CHARACTERS)
    said, tokens = await _ask(model, asked, structured=structured)
    intent, english = read_answer(said, text)
    return _rescued(IntentResult(intent, english, tokens), text)


def _rescued(found: IntentResult, text: str) -> IntentResult:
    """A `question` that plainly says to run the flow is `run_flow`; nothing else is ever overruled."""
    if found.intent == "question" and (asks_to_run(found.english) or asks_to_run(text)):
        return IntentResult("run_flow", found.english, found.tokens)
    return found


async def _ask(model: BaseChatModel, text: str, *, structured: bool) -> tuple[str, Tokens]:
    """The model's answer as text, and the tokens of every call that it took."""
    messages = [SystemMessage(PROMPT), HumanMessage(text)]
    tokens = Tokens()
    asker = _held_to_schema(model) if structured else None
    if asker is not None:
        try:
            found: Any = await asker.ainvoke(messages, config=_ALONE)
        except RequestRefused:  # a server that takes no schema
            log.info("assistant.intent.unstructured")
        except BrokenModelAnswer as error:  # cut off at the ceiling
            tokens.add(*error.used)
            return error.words, tokens
        else:
            said = found["raw"]
            return _text_of(said), _counted(tokens, said)
    answer = await model.ainvoke(messages, config=_ALONE)
    return _text_of(answer), _counted(tokens, answer)


def _held_to_schema(model: BaseChatModel) -> Runnable[Any, Any] | None:
    try:
        # As a JSON schema and not as a class: OpenAI's library reads answers by a class itself, and what it cannot read
        # it drops with its tokens.
        return model.with_structured_output(Answer.model_json_schema(), include_raw=True)
    except (NotImplementedError, ValueError):  # the library knows no way to hold this model to a schema
        return None


def _text_of(message: AIMessage) -> str:
    """The answer's words, or the arguments of the call that some libraries make of a schema."""
    for call in message.tool_calls:
        return orjson.dumps(call["args"]).decode()
    return message.text


def _counted(tokens: Tokens, message: AIMessage) -> Tokens:
    usage = message.usage_metadata
    if usage is not None:
        tokens.add(usage["input_tokens"], usage["output_tokens"])
    return tokens
