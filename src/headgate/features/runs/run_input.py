"""What a run was started with, as stored (seed 002, input_payload_json): text, form data, files."""

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from headgate.features.runs.transitions import Json, PastTurn
from headgate.foundation.quoting import CUT
from headgate.sdk import File, Message, RunInput
from headgate.sdk.outside import Marks, mark, merged


def input_payload(given: RunInput) -> Json:
    """The stored form. Of the chat before it only what no runs hold is in it: what it was started with."""
    payload: dict[str, JsonValue] = {"text": given.text}
    if given.form_data:
        payload["form_data"] = dict(given.form_data)
    if given.files:
        payload["files"] = [file.model_dump(mode="json") for file in given.files]
    if given.history:
        payload["history"] = [message.model_dump(mode="json") for message in given.history]
    if given.outside:
        payload["outside"] = list(given.outside)
    return orjson.dumps(payload).decode()


def run_input_of(payload: Json, history: Sequence[PastTurn] = ()) -> RunInput:
    """The input of a stored run, with the chat before it."""
    stored = orjson.loads(payload)
    return RunInput(
        text=stored["text"],
        form_data=stored.get("form_data", {}),
        files=tuple(File.model_validate(file) for file in stored.get("files", ())),
        history=(*(Message.model_validate(one) for one in stored.get("history", ())), *messages_of(history)),
        outside=tuple(stored.get("outside", ())),
        chat_outside=marks_of(history),
    )


def marks_of(history: Sequence[PastTurn]) -> Marks:
    """Where earlier messages come from, as far as that is outside."""
    payloads = [turn.input_payload for turn in history] + [turn.output_payload for turn in history]
    found = merged(*(orjson.loads(payload).get("outside", ()) for payload in payloads if payload))
    return merged(found, [mark("chat")]) if found else ()


def messages_of(history: Sequence[PastTurn]) -> tuple[Message, ...]:
    """Earlier runs as messages: what the user wrote, what the flow answered."""
    found: list[Message] = []
    for turn in history:
        asked = run_input_of(turn.input_payload)
        found.append(Message(role="user", text=asked.text, files=asked.files))
        output = orjson.loads(turn.output_payload) if turn.output_payload else {}
        if output.get("text"):
            found.append(Message(role="assistant", text=output["text"] + (CUT if output.get("truncated") else "")))
    return tuple(found)
