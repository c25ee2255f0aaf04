"""The stored input of a run (seed 002, input_payload_json): text, form data, files."""

from collections.abc import Mapping, Sequence

import orjson
from pydantic import JsonValue

from headgate.features.runs.transitions import Json, PastTurn
from headgate.foundation.quoting import CUT
from headgate.sdk import File, Message, RunInput
from headgate.sdk.outside import Marks, mark, merged


def input_payload(
    run_input: RunInput, trigger: Mapping[str, str | None] | None = None, *, is_test: bool = False
) -> Json:
    """Return the stored form. Of the chat history it holds only what is not stored in runs.

    `trigger` names the occurrence that started the run, `is_test` marks the run of a test case; steps do not receive
    them.
    """
    payload: dict[str, JsonValue] = {"text": run_input.text}
    if run_input.form_data:
        payload["form_data"] = dict(run_input.form_data)
    if run_input.files:
        payload["files"] = [file.model_dump(mode="json") for file in run_input.files]
    if run_input.history:
        payload["history"] = [message.model_dump(mode="json") for message in run_input.history]
    if run_input.outside:
        payload["outside"] = list(run_input.outside)
    if trigger is not None:
        payload["trigger"] = dict(trigger)
    if is_test:
        payload["test"] = True
    return orjson.dumps(payload).decode()


def run_input_of(payload: Json, history: Sequence[PastTurn] = ()) -> RunInput:
    """Return the input of a stored run, with the chat history."""
    stored = orjson.loads(payload)
    return RunInput(
        text=stored["text"],
        form_data=stored.get("form_data", {}),
        files=tuple(File.model_validate(file) for file in stored.get("files", ())),
        history=(*(Message.model_validate(message) for message in stored.get("history", ())), *messages_of(history)),
        outside=tuple(stored.get("outside", ())),
        chat_outside=marks_of(history),
    )


def marks_of(history: Sequence[PastTurn]) -> Marks:
    """Return the origins of earlier messages that contain untrusted content."""
    payloads = [turn.input_payload for turn in history] + [turn.output_payload for turn in history]
    marks = merged(*(orjson.loads(payload).get("outside", ()) for payload in payloads if payload))
    return merged(marks, [mark("chat")]) if marks else ()


def messages_of(history: Sequence[PastTurn]) -> tuple[Message, ...]:
    """Return earlier runs as messages: the user's text and the flow's answer."""
    messages: list[Message] = []
    for turn in history:
        run_input = run_input_of(turn.input_payload)
        messages.append(Message(role="user", text=run_input.text, files=run_input.files))
        output = orjson.loads(turn.output_payload) if turn.output_payload else {}
        if output.get("text"):
            messages.append(Message(role="assistant", text=output["text"] + (CUT if output.get("truncated") else "")))
    return tuple(messages)
