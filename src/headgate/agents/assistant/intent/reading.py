"""Parses a model's classification, in any wrapping (seed 001, ADR on granite models)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from headgate.agents.assistant.intent.intents import DEFAULT, INTENTS, Intent

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
