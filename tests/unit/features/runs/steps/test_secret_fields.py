"""No data of a run becomes the name of a secret: each field that may carry one, each source, each way to write it.

The fields come from the component catalogue, so a new one is covered on the day it is written.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from pydantic import JsonValue, SecretStr

from headgate.components import BUILTINS
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.runtime import component_class
from headgate.features.catalog.registry import Registry
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import ChildStates, RunKey
from headgate.foundation.errors import HeadgateError
from headgate.graph.manifest import Manifest
from headgate.graph.model import Flow, FormField, Node, StepPolicy
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate, Template
from headgate.sdk import Model, Recording, RunInput, Transcript
from headgate.sdk.fakes import FakeCode
from tests.support.engine import DictSecrets, NoModels, make_flow
from tests.support.services import OnePassage
from tests.support.steps import KEY, make_bench

NAME, VALUE = "MY_TOKEN", "the-organisations-own-token-0123456789"
URL = "https://api.example.org/in"
OWN = CheckedComponent(
    "class OwnCall: ...",
    Template(
        type="OwnCall",
        label="Own call",
        description="Calls.",
        category="web",
        fields=(
            FieldTemplate(name="text", kind=FieldKind.TEXT, types=(PortType.TEXT,), main=True),
            FieldTemplate(name="key", kind=FieldKind.SECRET),
        ),
        outputs=(OutputTemplate(name="said", type=PortType.TEXT),),
        outside=True,
    ),
    Manifest(("headgate",), ("api.example.org",)),
)
COMPONENTS = (*BUILTINS, component_class(OWN))
CATALOG = Registry(COMPONENTS)
FIELDS = [
    (type_, field)
    for type_ in CATALOG.types()
    for field in (CATALOG.template(type_) or pytest.fail(type_)).fields
    if field.carries_secret
]
SOURCES = {
    "form": "{{flow_input.customer}}",
    "chat": "{{flow_input.text}}",
    "step": "{{earlier.output}}",
    "data": "{{parsed.output}}",
    "file": "{{read.output}}",
}
REFERENCE: dict[str, JsonValue] = {"secret": NAME, "scheme": "Bearer"}
SAID: list[JsonValue] = [
    NAME, f"Bearer {NAME}", json.dumps(REFERENCE), REFERENCE, {"X-Customer": REFERENCE},
    {"provider": "openai", "name": "m", "api_key": {"secret": NAME}},
    json.dumps({"provider": "openai", "name": "m", "api_key": {"secret": NAME}}),
]  # fmt: skip


FLOW: JsonValue = {"flow_id": "called", "version": 1, "name": "Called"}
NEEDED: dict[str, dict[str, JsonValue]] = {
    "HTTPRequest": {"url": URL}, "WebhookOut": {"url": URL}, "AIStep": {"prompt": "x"},
    "ForEachPage": {"url": URL, "flow": FLOW},
    "Classify": {"labels": ["refund", "fault"]}, "AnswerFromKnowledge": {"base": "Handbook"},
    "Retrieve": {"base": "Handbook", "queries": 1}, "Rerank": {"query": "colour"},
    "StructuredOutput": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
}  # fmt: skip
"""What a step needs besides, by its type."""
PORTS = {"HTTPRequest": "body", "WebhookOut": "payload", "ForEachPage": ""}
"""Where the earlier steps lead to, where it is not the main input; nowhere where only addresses are taken."""


class Models(NoModels):
    """No model is there; notes the secrets that were referred to for a key."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def chat_model(self, origin: Origin, model: Model) -> Any:
        self.keys += [model.api_key.name] if model.api_key else []
        return await super().chat_model(origin, model)

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> Any:
        self.keys += [model.api_key.name] if model.api_key else []
        return await super().embed(origin, model, texts)

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> Any:
        self.keys += [model.api_key.name] if model.api_key else []
        return await super().rerank(origin, model, query, texts)

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        self.keys += [model.api_key.name] if model.api_key else []
        return await super().transcribe(origin, model, audio)


class Noting(DictSecrets):
    """A tenant's secrets, and which of them were asked for."""

    def __init__(self) -> None:
        super().__init__({NAME: VALUE})
        self.names: list[str] = []

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        self.names.append(name)
        return await super().secret(origin, name, url=url)


class OwnCode:
    """A sandbox that answers; notes what it was given."""

    def __init__(self) -> None:
        answer: JsonValue = {"outputs": {"said": {"value": "hi"}}, "log": [], "tokens": [], "files": []}
        self.code = FakeCode(lambda code, function, arguments: answer)

    def runner(self, tenant_id: str) -> FakeCode:
        return self.code


class NoRuns:
    """Starts no run of another flow: none was started before, and none can be."""

    def __init__(self) -> None:
        self.store = self

    async def child_states(self, key: RunKey, step_id: str) -> ChildStates:
        return ChildStates(0, {})


class Ground:
    """Runs a step whose sources all say the same, and knows which secrets were asked for and what was sent."""

    def __init__(self, type_: str, said: JsonValue) -> None:
        self.type = type_
        self.said = said
        self.models, self.secrets, self.code = Models(), Noting(), OwnCode()
        self.bench = make_bench(
            COMPONENTS, secrets=self.secrets, chat_models=self.models, code=self.code, knowledge=OnePassage()
        )
        self.bench.flows = NoRuns()
        self.bench.http.answer(URL, "ok", method="GET")
        self.bench.http.answer(URL, "ok", method="POST")

    @property
    def asked(self) -> list[str]:
        """The names of the secrets that were looked up."""
        return self.secrets.names + self.models.keys

    @property
    def sent(self) -> str:
        """Everything that left."""
        return str([(one.headers, one.body) for one in self.bench.http.requests] + self.code.code.calls)

    async def run(self, field: FieldTemplate, value: JsonValue, *, bound: str = "") -> None:
        params = dict(NEEDED.get(self.type, {})) | ({} if bound else {field.name: value})
        policy = StepPolicy(input_bindings={field.name: bound} if bound else {})
        text = self.said if isinstance(self.said, str) else json.dumps(self.said)
        audio = self.bench.files.add("a.wav", b"RIFF", "audio/wav", KEY.tenant_id)
        results: dict[str, dict[str, JsonValue]] = {
            "earlier": {"text": text}, "parsed": {"data": self.said}, "read": {"text": text}, "all": {"text": text},
            "sound": {"file": audio.model_dump(mode="json")},
        }  # fmt: skip
        given = RunInput(text=text, form_data={"customer": self.said})
        await self.bench.execute(self._flow(params, policy), "it", results, given)

    def _flow(self, params: dict[str, JsonValue], policy: StepPolicy) -> Flow:
        template = CATALOG.template(self.type) or OWN.template
        main = template.main_field
        port = PORTS.get(self.type, main.name if main is not None else "")
        source = "sound.file" if main is not None and PortType.FILE in main.types else "all.text"
        nodes = {
            "earlier": "TextInput", "read": "ReadFile", "parsed": "ParseJSON", "all": "CombineText",
            "sound": "FileInput",
        }  # fmt: skip
        edges = [
            "earlier.text -> all.parts",
            "read.text -> parsed.text",
            "parsed.data -> all.parts",
            *([f"{source} -> it.{port}"] if port else []),
        ]
        it = Node(id="it", type=self.type, params=params, policy=policy)
        found = make_flow({**nodes, "it": it}, edges)
        return found.model_copy(update={"form": (FormField(id="customer", label="Customer"),)})


def written(field: FieldTemplate, text: str) -> Iterator[JsonValue]:
    """Every way to write data into a field."""
    yield text
    if field.is_secret:
        yield {"secret": text}
    elif field.secret_values:
        for name, value in (("X-Customer", text), ("Authorization", text), ("Authorization", f"Bearer {text}")):
            yield {name: value}
        yield {"Cookie": {"secret": text}}
    else:
        chosen: dict[str, JsonValue] = {"provider": "openai", "name": "m"}
        yield {**chosen, "api_key": text}
        yield {**chosen, "api_key": {"secret": text}}
        yield {**chosen, "params": {"api_key": text}}


def saved(field: FieldTemplate) -> JsonValue:
    """A field as it refers to the secret in a saved flow."""
    if field.is_secret:
        return {"secret": NAME}
    if field.secret_values:
        return {"X-Key": REFERENCE}
    return {"provider": "openai", "name": "m", "api_key": {"secret": NAME}}


def test_the_catalogue_has_the_fields_that_are_known() -> None:
    found = {(type_, field.name) for type_, field in FIELDS}
    assert {("HTTPRequest", "headers"), ("WebhookOut", "secret"), ("Agent", "model"), ("OwnCall", "key")} <= found


@pytest.mark.parametrize(("type_", "field"), FIELDS, ids=[f"{type_}.{field.name}" for type_, field in FIELDS])
class TestFields:
    async def test_that_refer_to_a_secret_get_it(self, type_: str, field: FieldTemplate) -> None:
        ground = Ground(type_, "plain words")
        with suppress(HeadgateError):  # there is no model
            await ground.run(field, saved(field))
        assert ground.asked == [NAME]
        assert field.kind is FieldKind.MODEL or field.is_secret or VALUE in ground.sent

    @pytest.mark.parametrize("source", SOURCES)
    async def test_send_no_secret_that_data_names(self, type_: str, field: FieldTemplate, source: str) -> None:
        for said in SAID:
            for value in written(field, SOURCES[source]):
                ground = Ground(type_, said)
                with suppress(HeadgateError):
                    await ground.run(field, value)
                assert ground.asked == [], (value, said)
                assert VALUE not in ground.sent
            ground = Ground(type_, said)
            with suppress(HeadgateError):
                await ground.run(field, None, bound=SOURCES[source])
            assert (ground.asked, VALUE in ground.sent) == ([], False), said


class TestTools:
    async def test_get_no_reference_from_the_arguments_of_a_model(self) -> None:
        component = CATALOG.component("HTTPRequest")
        with pytest.raises(HeadgateError, match=r"headers\.X-Key"):
            component.create({"url": URL, "headers": {"X-Key": REFERENCE}})
        with pytest.raises(HeadgateError):
            CATALOG.component("WebhookOut").create({"url": URL, "secret": {"secret": NAME}})
        for value in ({"provider": "openai", "name": "m", "api_key": {"secret": NAME}}, "openai/m"):
            with suppress(HeadgateError):
                made: Any = CATALOG.component("Agent").create({"model": value, "input": "x"})
                assert made.model.api_key is None
