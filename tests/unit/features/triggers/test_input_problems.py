"""What a trigger gives to a run, compared with the form of its flow."""

import re
from email.message import EmailMessage
from typing import Any

import orjson
import pytest

from headgate.components.amqp_queues import QueueMessage
from headgate.components.kafka.records import Record
from headgate.components.readers.feed import read_feed
from headgate.components.readers.mail import parse_mail
from headgate.components.redis_streams import StreamEntry
from headgate.features.triggers.input_problems import SHAPES, problems_of
from headgate.features.triggers.poll_settings import StreamConfig, TopicConfig
from headgate.features.triggers.polling import folders, queues, streams, topics
from headgate.features.triggers.schemas import TriggerIn
from headgate.graph.model import Edge, Flow, FormField, Node
from tests.unit.features.triggers.test_text import NEEDED

FORM = [
    FormField(id="subject", type="text"),
    FormField(id="amount", type="number", max=10),
    FormField(id="kind", type="select", options=("new", "again")),
    FormField(id="agreed", type="checkbox"),
    FormField(id="more", type="json"),
]
NEEDS = [*FORM, FormField(id="name", type="text", required=True)]


def problems(kind: str, *, form: list[FormField] = FORM, answers: Any = None, **config: Any) -> list[tuple[str, str]]:
    settings = NEEDED.get(kind, {}) | {"kind": kind} | config
    body = TriggerIn.model_validate({"name": "T", "config": settings, "input": {"form_data": answers or {}}})
    found = problems_of(Flow(form=tuple(form)), body.config, body.input)
    assert all(problem.remedy for problem in found)
    return [(problem.field, problem.message) for problem in found]


@pytest.mark.parametrize(
    ("kind", "form_from", "said"),
    [
        ("feed", {"subject": "titel"}, "What a feed gives has no 'titel'; did you mean 'title'?"),
        ("folder", {"subject": "size"}, "The field 'subject' is a text, but 'size' of a folder is a number."),
        ("mail", {"amount": '"to"'}, "The field 'amount' is a number, but 'to' of a mail is a list."),
        ("mail", {"subject": "subject.text"}, "'subject' of a mail is a text, which has no 'text'."),
        ("webhook", {"subject": "payload.title"}, "What a webhook gives has no 'payload'."),
        ("webhook", {"kind": "'newer'"}, "The form field 'kind' has no option 'newer'"),
        ("api", {"amount": "`11`"}, "The form field 'amount' must be at most 10."),
        ("rows", {"subjects": "a"}, "The form of the flow has no field 'subjects'; did you mean 'subject'?"),
        ("queue", {"subject": "body["}, "The trigger: the expression"),
    ],
)
def test_of_a_part_that_does_not_fit(kind: str, form_from: dict[str, str], said: str) -> None:
    ((field, message),) = problems(kind, form_from=form_from)
    assert field == f"form_from.{next(iter(form_from))}"
    assert message.startswith(said)


@pytest.mark.parametrize(
    ("kind", "form_from"),
    [
        ("feed", {"subject": "title", "amount": "title", "agreed": "title", "kind": "title", "more": "categories"}),
        ("feed", {"subject": "join(', ', categories)", "amount": "length(categories)"}),
        ("folder", {"amount": "size", "more": "@"}),
        ("webhook", {"subject": "body.issue.titel", "amount": "body.n", "kind": "query.kind"}),
        ("stream", {"subject": "fields.anything"}),
        ("queue", {"subject": "headers.anything || id", "more": "body"}),
        ("topic", {"amount": "offset", "agreed": "tombstone", "subject": "key"}),
        ("rows", {"subject": "anything.at.all"}),
        ("api", {"subject": "anything"}),
        ("mail", {"subject": '"from"', "more": "files[0].name"}),
    ],
)
def test_no_false_alarm(kind: str, form_from: dict[str, str]) -> None:
    assert problems(kind, form_from=form_from, text_from="@") == []


def test_of_the_text() -> None:
    assert problems("page", text_from="texts") == [
        ("text_from", "What a page gives has no 'texts'; did you mean 'text'?")
    ]


EMPTY = "A chat or text input of the flow reads the text of the run, which would be empty."


def text_problems(output: str, kind: str, text: str = "", **config: Any) -> list[tuple[str, str]]:
    """The problems of a trigger of a flow with a chat input, of which a step uses an output or a reference."""
    nodes, edges = [Node(id="ask", type="ChatInput")], list[Edge]()
    if output.startswith("{{"):
        nodes.append(Node(id="out", type="ChatOutput", params={"input": output}))
    else:
        nodes.append(Node(id="out", type="ChatOutput"))
        edges.append(Edge(source="ask", output=output, target="out", input="input"))
    settings = NEEDED.get(kind, {}) | {"kind": kind} | config
    body = TriggerIn.model_validate({"name": "T", "config": settings, "input": {"text": text}})
    problems = problems_of(Flow(nodes=tuple(nodes), edges=tuple(edges)), body.config, body.input)
    assert all(problem.remedy for problem in problems)
    return [(problem.field, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("output", "kind", "settings", "expected"),
    [
        ("text", "schedule", {}, ("input.text", EMPTY)),
        ("message", "schedule", {}, ("input.text", EMPTY)),
        ("{{ask.text}}", "schedule", {}, ("input.text", EMPTY)),
        ("text", "feed", {"text_from": "''"}, ("text_from", EMPTY)),
        ("text", "api", {"text_from": "`null`"}, ("text_from", EMPTY)),
        ("text", "api", {"text_from": "`7`"}, ("text_from", "the constant is not")),
        ("text", "mail", {"text_from": '"to"'}, ("text_from", "'to' of a mail is a list.")),
        ("text", "folder", {"text_from": "size"}, ("text_from", "'size' of a folder is a number.")),
        ("text", "webhook", {"text_from": "headers"}, ("text_from", "'headers' of a webhook is an object.")),
    ],
)  # fmt: skip
def test_of_a_text_that_is_read_and_empty_or_no_text(
    output: str, kind: str, settings: dict[str, Any], expected: tuple[str, str]
) -> None:
    ((place, message),) = text_problems(output, kind, **settings)
    assert place == expected[0]
    assert expected[1] in message


@pytest.mark.parametrize(
    ("output", "kind", "settings"),
    [
        ("text", "schedule", {"text": "Every morning"}),
        ("files", "schedule", {}),
        ("{{ask.files}}", "schedule", {}),
        ("text", "manual", {}),
        ("text", "form", {}),
        ("text", "webhook", {}),
        ("text", "webhook", {"text_from": "body.title"}),
        ("text", "feed", {"text_from": "title"}),
        ("text", "feed", {"text_from": "''", "text": "Saved"}),
        ("text", "mail", {"text_from": "join(', ', \"to\")"}),
        ("text", "topic", {"text_from": "@"}),
        ("files", "mail", {"text_from": '"to"'}),
    ],
)
def test_no_false_alarm_of_a_text(output: str, kind: str, settings: dict[str, Any]) -> None:
    assert text_problems(output, kind, **settings) == []


@pytest.mark.parametrize(
    ("params", "edges", "is_problem"),
    [
        ({}, ["ask.text -> out.input"], True),
        ({}, [], False),
        ({"text": "Written here"}, ["ask.text -> out.input"], False),
        ({}, ["other.text -> ask.text", "ask.text -> out.input"], False),
    ],
)
def test_of_a_text_input(params: dict[str, Any], edges: list[str], is_problem: bool) -> None:
    nodes = [Node(id="other", type="FormInput"), Node(id="ask", type="TextInput", params=params)]
    ends = [re.split(r"\.| -> ", edge) for edge in edges]
    parsed = [Edge(source=source, output=out, target=target, input=port) for source, out, target, port in ends]
    flow = Flow(nodes=(*nodes, Node(id="out", type="ChatOutput")), edges=tuple(parsed))
    body = TriggerIn.model_validate({"name": "T", "config": {"kind": "schedule", "every_seconds": 3600}})
    found = [(problem.field, problem.message) for problem in problems_of(flow, body.config, body.input)]
    assert found == ([("input.text", EMPTY)] if is_problem else [])


def test_of_saved_answers() -> None:
    assert problems("schedule", answers={"amount": 11, "colour": "red"}) == [
        ("input.form_data.colour", "The form of the flow has no field 'colour'."),
        ("input.form_data.amount", "The form field 'amount' must be at most 10."),
    ]
    assert problems("feed", answers={"amount": 11}, form_from={"amount": "title"}) == []


def test_of_a_required_answer() -> None:
    missing = "The form field 'name' requires an answer."
    assert problems("schedule", form=NEEDS) == [("input.form_data.name", missing)]
    assert problems("feed", form=NEEDS) == [("form_from.name", missing)]
    assert problems("feed", form=NEEDS, form_from={"name": "title"}) == []
    assert problems("manual", form=NEEDS, answers={"name": "Ada"}) == []
    assert problems("form", form=NEEDS) == []
    assert problems("form", form=NEEDS, answers={"name": 7}) != []
    assert problems("webhook", form=NEEDS, verification="standard", event={"name": "paid"}) == []


def shape_of(value: Any) -> dict[str, str]:
    """What each member of a value is; nothing for those that are null."""
    kinds = {str: "text", bool: "yes or no", int: "number", list: "list", dict: "object"}
    return {name: kinds.get(type(member), "") for name, member in value.items()}


def test_shapes_are_those_of_real_values() -> None:
    entry: dict[str, Any] = {"id": "1", "title": "T", "url": "https://example.org/1", "summary": "S", "tags": ["a"]}
    entry |= {"author": {"name": "A"}, "date_published": "2027-01-01", "date_modified": "2027-01-02"}
    entry |= {"attachments": [{"url": "https://example.org/a"}]}
    document = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [entry]}
    message = EmailMessage()
    message["From"], message["Subject"], message["Message-ID"] = "bo@example.org", "Hi", "<1@example.org>"
    message["In-Reply-To"], message["Date"] = "<0@example.org>", "Fri, 01 Jan 2027 10:00:00 +0000"
    message.set_content("x")
    mail = parse_mail(message.as_bytes(), complete=True)
    mail.pop("attachments")
    queued = QueueMessage("1", "key", {"a": 1}, "text/plain", b"x")
    record = Record(1, 0, b"k", b"x", (("a", b"b"),))
    real: dict[str, Any] = {
        "feed": read_feed(orjson.dumps(document), url="https://example.org").items[0],
        "mail": mail | {"uid": "1", "seen": True, "complete": True, "files": []},
        "folder": folders._file("in/a.txt", b"a", "key").value,
        "stream": streams._item(StreamConfig(connection="r", stream="s"), StreamEntry("1-0", {"a": "b"})).value,
        "queue": queues._value(queued, queues._body(queued)),
        "topic": topics._item(TopicConfig(connection="r", topic="t"), 0, record).value,
    }
    for kind, value in real.items():
        shape = SHAPES[kind]
        assert set(value) == set(shape), kind
        assert {name: shape[name] or shape_of(value)[name] for name in shape} == shape_of(value), kind
