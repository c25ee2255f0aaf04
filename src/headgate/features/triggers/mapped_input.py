"""The input of a run from content of others: what a call has sent, or what a poll found."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.features.triggers.hooks.bodies import selected, text_of
from headgate.features.triggers.occurrences import input_with
from headgate.features.triggers.settings import OccurrenceInput, TriggerInput


@dataclass(frozen=True, slots=True)
class Mapped:
    """Content, and what of it the run receives."""

    document: JsonValue
    """What the expressions select from."""
    text: str
    """The text of the run where no expression selects another one."""
    text_from: str | None
    form_from: Mapping[str, str]


def mapped_input(saved: TriggerInput, content: Mapped, *, name: str) -> OccurrenceInput:
    """Return the saved input with content. `name`: of the trigger. Raises `TriggerInvalid`. It blocks."""
    text = content.text
    if content.text_from is not None:
        text = text_of(selected(content.text_from, content.document, name=name))
    form = dict(saved.form_data)
    for field, expression in content.form_from.items():
        form[field] = selected(expression, content.document, name=name)
    return input_with(saved, text=text or saved.text, form_data=form)
