"""Parsing of messages in separate processes, several in each."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue

from headgate.components.isolated import MAILS
from headgate.components.isolated.calls import Isolation, call_isolated
from headgate.components.readers.document import Unreadable

MOST_PARSED = 25
MOST_PARSED_BYTES = 2_000_000
"""Messages that one process parses, and their bytes; a larger one is parsed alone."""
PARSING_SECONDS = 20.0
UNKNOWN: dict[str, Any] = {
    "date": "", "from": "", "to": [], "cc": [], "subject": "", "message_id": None, "in_reply_to": None
}  # fmt: skip
"""What is known of a message that could not be parsed."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A message as it arrived, not parsed."""

    uid: str
    seen: bool
    complete: bool
    """Whether it is more than the header."""
    content: bytes


def grouped(mails: Sequence[Raw]) -> list[list[Raw]]:
    """Return messages in groups that one process parses, in their order."""
    groups: list[list[Raw]] = []
    size = 0
    for mail in mails:
        size += len(mail.content)
        if not groups or len(groups[-1]) == MOST_PARSED or size > MOST_PARSED_BYTES:
            groups.append([])
            size = len(mail.content)
        groups[-1].append(mail)
    return groups


async def parse(ctx: Isolation, mails: Sequence[Raw]) -> list[dict[str, Any]]:
    """Return the parts of messages, as `parse_mail` does, or the `problem` of each that cannot be parsed.

    A message that stops the process hides no other: they are parsed again, each alone.
    """
    messages: list[JsonValue] = [
        {
            "content": base64.b64encode(mail.content).decode(),
            "complete": mail.complete,
            "name": f"Message {mail.uid}",
        }
        for mail in mails
    ]
    task = f"The parsing of message {mails[0].uid}"
    try:
        parsed = await call_isolated(ctx, MAILS, {"messages": messages}, task, PARSING_SECONDS)
    except Unreadable as error:
        if len(mails) == 1:
            return [{"problem": error.detail}]
        return [parts for mail in mails for parts in await parse(ctx, [mail])]
    return cast("list[dict[str, Any]]", parsed)
