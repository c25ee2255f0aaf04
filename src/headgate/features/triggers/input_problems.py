"""Whether what a trigger gives to a run fits what its flow reads: only what fails for certain is a problem."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.form import check_form
from headgate.features.triggers.schemas import TriggerProblem
from headgate.features.triggers.settings import Config, FormConfig, ScheduleConfig, TriggerInput, WebhookConfig
from headgate.foundation.lazy import lazy_module
from headgate.graph.mentions import mentions
from headgate.graph.model import Flow, FormField, FormFieldType
from headgate.graph.names import did_you_mean, listed
from headgate.sdk import ComponentError

if TYPE_CHECKING:
    from headgate.components.data import selecting
else:
    selecting = lazy_module("headgate.components.data.selecting")


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a run, as what an expression is selected for."""

    saved: str
    """What is used where the expression selects nothing."""
    type: Final[FormFieldType] = "text"


_TEXT, _WHOLE, _FLAG, _LIST, _OBJECT = "text", "number", "yes or no", "list", "object"
_ANY = ""
_READ_TEXT = frozenset({"ChatInput", "TextInput"})
"""Components whose empty field `text` is the text of the run."""
SHAPES: Final[Mapping[str, Mapping[str, str]]] = {
    "feed": {
        **dict.fromkeys(("title", "url", "published", "updated", "author", "summary", "id", "attachment"), _TEXT),
        "categories": _LIST,
    },
    "page": dict.fromkeys(("url", "title", "text"), _TEXT),
    "folder": {**dict.fromkeys(("path", "name", "sha256"), _TEXT), "size": _WHOLE},
    "mail": {
        **dict.fromkeys(("uid", "date", "from", "subject", "text", "message_id", "in_reply_to"), _TEXT),
        **dict.fromkeys(("to", "cc", "files"), _LIST),
        **dict.fromkeys(("seen", "complete"), _FLAG),
        "omitted": _WHOLE,
    },
    "stream": {"id": _TEXT, "fields": _OBJECT},
    "queue": {"id": _TEXT, "routing_key": _TEXT, "headers": _OBJECT, "body": _ANY},
    "topic": {
        **dict.fromkeys(("topic", "key", "time"), _TEXT),
        **dict.fromkeys(("partition", "offset"), _WHOLE),
        "headers": _OBJECT,
        "body": _ANY,
        "tombstone": _FLAG,
    },
    "webhook": {"body": _ANY, "headers": _OBJECT, "query": _OBJECT, "method": _TEXT},
}
"""Members of what expressions select from, by kind, with what each is where it is not null. Other kinds: unknown."""
_TAKES: Final[Mapping[FormFieldType, tuple[str, ...]]] = {
    **dict.fromkeys(("text", "long_text", "select", "date"), (_TEXT,)),
    "number": (_TEXT, _WHOLE),
    "checkbox": (_TEXT, _FLAG),
    **dict.fromkeys(("multiselect", "image", "audio", "document", "file"), (_TEXT, _LIST)),
}
"""What the answers of a field type can be read from; of other types anything."""


def problems_of(flow: Flow, config: Config, given: TriggerInput) -> list[TriggerProblem]:
    """Return why runs of a trigger would fail, or miss what it is to give them: empty when nothing is certain.

    Args:
        flow: The flow: its form, and whether an input reads the text of the run.
        config: The settings of the trigger.
        given: Its saved input.
    """
    if isinstance(config, WebhookConfig) and config.event is not None:
        return []
    mapped: Mapping[str, str] = getattr(config, "form_from", {})
    return [
        *_text(flow, config, given),
        *_mapped(flow.form, config, mapped),
        *_saved(
            flow.form, given.form_data, mapped, asks=isinstance(config, FormConfig), maps=hasattr(config, "form_from")
        ),
    ]


def _text(flow: Flow, config: Config, given: TriggerInput) -> Iterator[TriggerProblem]:
    """Yield why the text of a run would be empty or no text although an input reads it."""
    text_from: str | None = getattr(config, "text_from", None)
    is_read = _reads_text(flow)
    if text_from is not None:
        yield from _selected(config.kind, text_from, _Text(given.text) if is_read else None, "text_from")
    elif is_read and isinstance(config, ScheduleConfig) and not given.text:
        yield _empty("input.text", "Save a text with the trigger, or start the flow with another input.")


def _reads_text(flow: Flow) -> bool:
    """Return whether a step uses the text or message of a chat or text input whose text field is empty."""
    given = {edge.target for edge in flow.edges if edge.input == "text"}
    inputs = {node.id for node in flow.nodes if node.type in _READ_TEXT and not node.params.get("text")} - given
    used: set[tuple[str, ...]] = {(edge.source, edge.output) for edge in flow.edges}
    used |= {mention.reference.path[:2] for node in flow.nodes for mention in mentions(node)} if inputs else set()
    return any(path[0] in inputs and path[1:] != ("files",) for path in used)


def _mapped(form: Sequence[FormField], config: Config, mapped: Mapping[str, str]) -> Iterator[TriggerProblem]:
    fields = {field.id: field for field in form}
    for name, expression in mapped.items():
        place = f"form_from.{name}"
        if name not in fields:
            yield _unknown(name, place, fields)
        else:
            yield from _selected(config.kind, expression, fields[name], place)


def _saved(
    form: Sequence[FormField], answers: Mapping[str, JsonValue], mapped: Mapping[str, str], *, asks: bool, maps: bool
) -> Iterator[TriggerProblem]:
    fields = {field.id: field for field in form}
    for name in answers:
        if name not in fields and name not in mapped:
            yield _unknown(name, f"input.form_data.{name}", fields)
    for field in form:
        if field.id in mapped or (asks and field.id not in answers):
            continue
        answer = {field.id: answers[field.id]} if field.id in answers else {}
        place = f"form_from.{field.id}" if maps and not answer else f"input.form_data.{field.id}"
        remedy = (
            "Save an answer, or choose which part answers it (form_from)."
            if maps
            else "Save an answer with the trigger."
        )
        yield from _checked(field, answer, place, remedy=remedy if not answer else "")


def _selected(kind: str, expression: str, field: "FormField | _Text | None", place: str) -> Iterator[TriggerProblem]:
    """Yield why an expression selects nothing, or what the field or text never takes."""
    try:
        parsed = selecting.parse_expression(expression, subject="The trigger")
    except ComponentError as error:
        yield TriggerProblem(field=place, message=error.detail, remedy=error.remedy)
        return
    if parsed["type"] == "literal":
        yield from () if field is None else _constant(field, parsed["value"], place)
        return
    path, members = _path_of(parsed), SHAPES.get(kind)
    if members is None or not path:
        return
    name, *rest = path
    if name not in members:
        message = f"What a {kind} gives has no '{name}'{did_you_mean(name, members) or '.'}"
        yield TriggerProblem(field=place, message=message, remedy=f"Select one of: {listed(members, most=20)}.")
    elif rest and members[name] in {_TEXT, _WHOLE, _FLAG, _LIST}:
        message = f"'{name}' of a {kind} is a {members[name]}, which has no '{rest[0]}'."
        yield TriggerProblem(field=place, message=message, remedy=f"Select '{name}'.")
    elif field is not None and not rest and members[name] not in {_ANY, *_TAKES.get(field.type, (members[name],))}:
        target = "text of the run" if isinstance(field, _Text) else f"field '{field.id}'"
        article = "an" if members[name] == _OBJECT else "a"
        message = f"The {target} is a {field.type}, but '{name}' of a {kind} is {article} {members[name]}."
        yield TriggerProblem(field=place, message=message, remedy="Select another part, or change the field.")


def _path_of(parsed: Any) -> list[str]:  # noqa: ANN401 - a syntax tree
    """Return the members that an expression selects one after the other; empty for any other expression."""
    if parsed["type"] == "field":
        return [parsed["value"]]
    if parsed["type"] != "subexpression":
        return []
    parts = [_path_of(part) for part in parsed["children"]]
    return [name for part in parts for name in part] if all(parts) else []


def _constant(field: "FormField | _Text", value: JsonValue, place: str) -> Iterator[TriggerProblem]:
    if not isinstance(field, _Text):
        yield from _checked(field, {field.id: value}, place)
    elif value is not None and not isinstance(value, str):
        message = "The text of the run is a text, but the constant is not."
        yield TriggerProblem(field=place, message=message, remedy="Write it in single quotes: 'text'.")
    elif not value and not field.saved:
        yield _empty(place, "Select a text, or save one with the trigger.")


def _empty(place: str, remedy: str) -> TriggerProblem:
    message = "A chat or text input of the flow reads the text of the run, which would be empty."
    return TriggerProblem(field=place, message=message, remedy=remedy)


def _checked(
    field: FormField, answers: Mapping[str, JsonValue], place: str, *, remedy: str = ""
) -> Iterator[TriggerProblem]:
    try:
        check_form([field], answers)
    except InputInvalid as error:
        yield TriggerProblem(field=place, message=error.detail, remedy=remedy or error.remedy)


def _unknown(name: str, place: str, fields: Mapping[str, FormField]) -> TriggerProblem:
    message = f"The form of the flow has no field '{name}'{did_you_mean(name, fields) or '.'}"
    remedy = f"Its fields are: {listed(fields)}." if fields else "Remove it: the flow has no form."
    return TriggerProblem(field=place, message=message, remedy=remedy)
