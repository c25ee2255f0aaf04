"""An own component as a step: its class here has no code, and has the sandbox give its outputs in one call."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import orjson
from pydantic import BaseModel, ConfigDict, JsonValue, PrivateAttr, ValidationError

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.tool_schema import tool_schema
from headgate.foundation.errors import Forbidden, HeadgateError, TooLarge
from headgate.foundation.secret_values import is_recognisable
from headgate.graph.names import listed
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import EXPECTED
from headgate.graph.template import Template
from headgate.sdk import NOT_TAKEN, Component, ComponentError, File, Message, RunContext, SecretReference
from headgate.sdk.coerce import decode
from headgate.sdk.crossing import PRODUCE, pack

MOST_SECONDS = 300.0
"""Of one call; HEADGATE_SANDBOX__TIMEOUT_SECONDS may allow less."""
MOST_FILE_BYTES = 8 << 20
"""Of all the files that one call is given: they travel as text among its arguments."""


class SecretKept(Forbidden):
    """An own component may not have the value of a variable."""

    code = "secret_kept"
    title = "The variable is not given"


class _Made(BaseModel):
    """A file that the component made."""

    id: str
    name: str
    media_type: str
    content: str


class _Line(BaseModel):
    message: str
    details: dict[str, JsonValue] = {}


class _Output(BaseModel):
    value: JsonValue = None
    not_taken: bool = False


class _Answer(BaseModel):
    """What `hosting.produce` gives; it came out of the sandbox, so it may be anything."""

    model_config = ConfigDict(extra="forbid")

    outputs: dict[str, _Output]
    log: list[_Line]
    tokens: list[str]
    files: list[_Made]


class OwnComponent(Component):
    """Base of the classes that stand for own code; see `component_class`."""

    checked: ClassVar[CheckedComponent]

    _values: dict[str, Any] = PrivateAttr(default_factory=dict)
    _wanted: tuple[str, ...] = PrivateAttr(default=())
    _given: dict[str, _Output] = PrivateAttr(default_factory=dict)

    @classmethod
    def create(cls, values: Mapping[str, Any], *, node_id: str = "") -> Self:
        """Take the values as they are: the class itself judges them in the sandbox. Raises `ComponentError`."""
        for field in cls.checked.template.fields:
            if field.required and values.get(field.name) is None:
                who = f"{node_id} ({cls.checked.type})" if node_id else cls.checked.type
                remedy = f"Set '{field.name}' or connect something to it."
                raise ComponentError(f"{who}: field '{field.name}' is empty.", remedy=remedy, field=field.name)
        made = cls()
        made._values = dict(values)
        return made

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:  # noqa: ARG003 - the same for all
        """As the sandbox found it."""
        return cls.checked.template

    @classmethod
    def tool_schema(cls) -> dict[str, JsonValue]:
        """JSON Schema of the arguments that an agent gives."""
        return tool_schema(cls.checked.template)

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Remember what is wanted, to ask for all of it at once."""
        self._wanted = tuple(names)

    async def produce(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """The value of one output, or `NOT_TAKEN`. The first call has the sandbox make all that are wanted."""
        output = self.checked.template.output(name)
        if output is None:
            raise ComponentError(f"{self.checked.type} has no output '{name}'.")
        if name not in self._given:
            wanted = dict.fromkeys((*self._wanted, name))
            self._given |= await self._work([one for one in wanted if one not in self._given])
        found = self._given[name]
        return NOT_TAKEN if found.not_taken and output.branch else decode(found.value, PortType(output.type))

    async def _work(self, names: list[str]) -> dict[str, _Output]:
        checked, ctx = self.checked, self.ctx
        secrets = await _secrets(checked, self._values, ctx)
        arguments: dict[str, JsonValue] = {
            "values": {name: pack(value) for name, value in (self._values | secrets).items()},
            "outputs": list(names),
            "run_id": ctx.run_id,
            "node_id": ctx.node_id,
            "input": _input(ctx) if checked.template.reads_input else None,
            "files": await self._files() if checked.manifest.files else {},
        }
        try:
            raw = await ctx.code.call_host(
                checked.code, PRODUCE, arguments, manifest=checked.manifest, timeout_seconds=MOST_SECONDS
            )
        except HeadgateError as error:
            self._refuse_secrets([error.detail, error.remedy, error.extra], secrets)
            raise
        answer = self._read(raw, names)
        self._refuse_secrets(raw, secrets)
        for line in answer.log:
            ctx.log(line.message, **line.details)
        for token in answer.tokens:
            await ctx.emit(token)
        return await _stored(answer, ctx)

    async def _files(self) -> dict[str, JsonValue]:
        """The content of every file that the component was given, in base64 by id."""
        given = [file for value in self._values.values() for file in _files_in(value)]
        if self.checked.template.reads_input:
            given += _files_in(self.ctx.input.files)
        found: dict[str, JsonValue] = {}
        size = 0
        for file in given:
            if file.id in found:
                continue
            content = await self.ctx.files.read(file)
            size += len(content)
            if size > MOST_FILE_BYTES:
                raise TooLarge(
                    f"{self.checked.type} is given more than {MOST_FILE_BYTES} bytes of files.",
                    remedy="Read them with ReadFile, and give it their text.",
                )
            found[file.id] = base64.b64encode(content).decode()
        return found

    def _read(self, raw: JsonValue, names: Sequence[str]) -> _Answer:
        try:
            answer = _Answer.model_validate(raw)
        except ValidationError:
            answer = None
        if answer is None or set(answer.outputs) != set(names):
            raise ComponentError(f"{self.checked.type} gave no usable answer.", remedy="Correct its code.")
        return answer

    def _refuse_secrets(self, raw: JsonValue, secrets: Mapping[str, str]) -> None:
        """Raise when the answer or an error shows a secret: both are stored, shown and handed on."""
        said = orjson.dumps(raw).decode()
        for name, value in secrets.items():
            if is_recognisable(value) and orjson.dumps(value).decode()[1:-1] in said:
                raise SecretKept(
                    f"{self.checked.type} gave the secret of its field '{name}' out again; its answer was dropped.",
                    remedy="Correct its code: a secret goes to the server it is for and nowhere else.",
                ) from None


def component_class(checked: CheckedComponent) -> type[Component]:
    """The class that stands for a piece of checked code."""

    class Made(OwnComponent):
        pass

    Made.checked = checked
    Made.__name__ = Made.__qualname__ = checked.type
    Made.__doc__ = checked.template.description
    return Made


async def _secrets(checked: CheckedComponent, values: Mapping[str, Any], ctx: RunContext) -> dict[str, str]:
    """The values that secret fields refer to, where all hosts of the component may have them.

    Code can always say a secret in other words, so it gets none that it could not send where it belongs anyway: the
    operator must have opened the hosts to own code. Raises `ComponentError` for a value that is no reference,
    `SecretKept`, `VariableKept`, `NotFound`.
    """
    references = _references(checked, values)
    named = [one.name for one in references.values()]
    hosts = checked.manifest.hosts
    if named and (not hosts or any("*" in host for host in hosts)):
        asks = f"the hosts {listed(hosts)}" if hosts else "no host"
        raise SecretKept(
            f"{checked.type} asks for {asks}, so it is not given the variable {listed(named)}.",
            remedy="Name each server that the secret goes to: hosts = ('api.example.org',).",
        )
    if named and not ctx.code.opens(checked.manifest):
        raise SecretKept(
            f"Own code may not reach {listed(hosts)} here, so it is not given the variable {listed(named)}.",
            remedy="Whoever runs this installation opens hosts to own code: HEADGATE_SANDBOX__HOSTS.",
        )
    found: dict[str, str] = {}
    for name, reference in references.items():
        for host in hosts:
            found[name] = (await ctx.secret(reference, url=f"https://{host}/")).get_secret_value()
    return found


def _references(checked: CheckedComponent, values: Mapping[str, Any]) -> dict[str, SecretReference]:
    references: dict[str, SecretReference] = {}
    for field in checked.template.fields:
        value = values.get(field.name) if field.is_secret else None
        if isinstance(value, SecretReference):
            references[field.name] = value
        elif value not in (None, ""):
            raise ComponentError(
                f"{checked.type}: field '{field.name}' takes a secret that the saved flow refers to, never a value.",
                remedy=f"Set it to {EXPECTED}.",
                field=field.name,
            )
    return references


def _input(ctx: RunContext) -> dict[str, JsonValue]:
    given = ctx.input
    return {
        "text": given.text,
        "form_data": dict(given.form_data),
        "files": [file.model_dump(mode="json") for file in given.files],
        "history": [message.model_dump(mode="json") for message in given.history],
    }


def _files_in(value: object) -> list[File]:
    if isinstance(value, File):
        return [value]
    if isinstance(value, Message):
        return list(value.files)
    return [file for item in value for file in _files_in(item)] if isinstance(value, list | tuple) else []


async def _stored(answer: _Answer, ctx: RunContext) -> dict[str, _Output]:
    """The outputs with the files that the component made stored as artifacts of the step."""
    saved: dict[str, JsonValue] = {}
    for made in answer.files:
        try:
            content = base64.b64decode(made.content, validate=True)
        except ValueError as error:
            raise ComponentError(f"The file '{made.name[:200]}' did not arrive whole.", remedy="Try again.") from error
        file = await ctx.files.save(made.name, content, made.media_type)
        saved[made.id] = file.model_dump(mode="json")
    if not saved:
        return answer.outputs
    return {
        name: one.model_copy(update={"value": _with_files(one.value, saved)}) for name, one in answer.outputs.items()
    }


def _with_files(value: JsonValue, saved: Mapping[str, JsonValue]) -> JsonValue:
    """The value with each reference to a new file led to the artifact that it became."""
    if isinstance(value, list):
        return [_with_files(item, saved) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == set(File.model_fields) and str(value["id"]) in saved:
        return saved[str(value["id"])]
    return {name: _with_files(item, saved) for name, item in value.items()}
