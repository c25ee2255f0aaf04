"""Estimates the tokens of a prompt before it is sent."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

CHARACTERS_A_TOKEN = 4
TOKENS_A_MESSAGE = 4
"""Tokens of the role and the separators of a message."""
TOKENS_A_FILE = 1_000
"""Tokens of an image, a recording or a document in a message, whose size only the provider knows."""


def prompt_tokens(messages: Iterable[Any], options: Mapping[str, Any]) -> int:
    """Return the estimated tokens of LangChain messages and the offered tools: text at four characters per token."""
    characters = tokens = 0
    for message in messages:
        tokens += TOKENS_A_MESSAGE
        content = message.content
        blocks = [content] if isinstance(content, str) else content
        for block in blocks:
            text = block if isinstance(block, str) else block.get("text")
            if isinstance(text, str):
                characters += len(text)
            else:
                tokens += TOKENS_A_FILE
        characters += sum(
            len(json.dumps(call["args"], default=str)) for call in getattr(message, "tool_calls", ()) or ()
        )
    if tools := options.get("tools"):
        characters += len(json.dumps(tools, default=str))
    return tokens - (-characters // CHARACTERS_A_TOKEN)
