"""A custom component as a step: its proxy class has no code, and requests its outputs from the sandbox in one call."""

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
"""Timeout of one call; HEADGATE_SANDBOX__TIMEOUT_SECONDS may be lower."""
MOST_FILE_BYTES = 8 << 20
"""Maximum total size of the files in one call: they are passed as text in its arguments."""


class SecretKept(Forbidden):
    """A custom component may not receive the value of a variable."""

    code = "secret_kept"
    title = "Variable not provided"


class _Made(BaseModel):
    """A file that the component created."""

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
    """The result of `hosting.produce`, untrusted because it comes from the sandbox."""

    model_config = ConfigDict(extra="forbid")

    outputs: dict[str, _Output]
    log: list[_Line]
    tokens: list[str]
    files: list[_Made]


class OwnComponent(Component):
    """Base of the proxy classes of custom code; see `component_class`."""

    checked: ClassVar[CheckedComponent]

    _values: dict[str, Any] = PrivateAttr(default_factory=dict)
    _wanted: tuple[str, ...] = PrivateAttr(default=())
    _given: dict[str, _Output] = PrivateAttr(default_factory=dict)

    @classmethod
    def create(cls, values: Mapping[str, Any], *, node_id: str = "") -> Self:
        """Accept the values unchanged: the class itself validates them in the sandbox. Raises `ComponentError`."""
        for field in cls.checked.template.fields:
            if field.required and values.get(field.name) is None:
                subject = f"{node_id} ({cls.checked.type})" if node_id else cls.checked.type
                remedy = f"Set '{field.name}' or connect something to it."
                raise ComponentError(f"{subject}: field '{field.name}' is empty.", remedy=remedy, field=field.name)
        instance = cls()
        instance._values = dict(values)
        return instance

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:  # noqa: ARG003 - the same for all
        """Return the template from the sandbox."""
        return cls.checked.template

    @classmethod
    def tool_schema(cls) -> dict[str, JsonValue]:
        """Return JSON Schema of the tool arguments."""
        return tool_schema(cls.checked.template)

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Store the requested outputs, to request all of them at once."""
        self._wanted = tuple(names)

    async def produce(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return the value of one output, or `NOT_TAKEN`. The first call requests all outputs from the sandbox."""
        output = self.checked.template.output(name)
        if output is None:
            raise ComponentError(f"{self.checked.type} has no output '{name}'.")
        if name not in self._given:
            requested = dict.fromkeys((*self._wanted, name))
            self._given |= await self._work(
                [output_name for output_name in requested if output_name not in self._given]
            )
        result = self._given[name]
        return NOT_TAKEN if result.not_taken and output.branch else decode(result.value, PortType(output.type))

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
        result = self._read(raw, names)
        self._refuse_secrets(raw, secrets)
        for line in result.log:
            ctx.log(line.message, **line.details)
        for token in result.tokens:
            await ctx.emit(token)
        return await _stored(result, ctx)

    async def _files(self) -> dict[str, JsonValue]:
        """Return the content of every input file, in base64 by id."""
        files = [file for value in self._values.values() for file in _files_in(value)]
        if self.checked.template.reads_input:
            files += _files_in(self.ctx.input.files)
        contents: dict[str, JsonValue] = {}
        size = 0
        for file in files:
            if file.id in contents:
                continue
            content = await self.ctx.files.read(file)
            size += len(content)
            if size > MOST_FILE_BYTES:
                raise TooLarge(
                    f"{self.checked.type} receives more than {MOST_FILE_BYTES} bytes of files.",
                    remedy="Read the files with ReadFile and pass their text.",
                )
            contents[file.id] = base64.b64encode(content).decode()
        return contents

    def _read(self, raw: JsonValue, names: Sequence[str]) -> _Answer:
        try:
            result = _Answer.model_validate(raw)
        except ValidationError:
            result = None
        if result is None or set(result.outputs) != set(names):
            raise ComponentError(f"{self.checked.type} returned an invalid response.", remedy="Correct its code.")
        return result

    def _refuse_secrets(self, raw: JsonValue, secrets: Mapping[str, str]) -> None:
        """Raise when the result or an error contains a secret: both are stored, shown and passed on."""
        text = orjson.dumps(raw).decode()
        for name, value in secrets.items():
            if is_recognisable(value) and orjson.dumps(value).decode()[1:-1] in text:
                raise SecretKept(
                    f"{self.checked.type} returned the secret of its field '{name}'; its response was discarded.",
                    remedy="Correct its code: send a secret only to its server.",
                ) from None


def component_class(checked: CheckedComponent) -> type[Component]:
    """Return the proxy class of checked code."""

    class Made(OwnComponent):
        pass

    Made.checked = checked
    Made.__name__ = Made.__qualname__ = checked.type
    Made.__doc__ = checked.template.description
    return Made


async def _secrets(checked: CheckedComponent, values: Mapping[str, Any], ctx: RunContext) -> dict[str, str]:
    """Return the values of secret fields, when all hosts of the component may receive them.

    Code can always encode a secret, so it gets none that it could not legitimately send to its hosts: the operator must
    have allowed the hosts for custom code. Raises `ComponentError` for a value that is not a reference, `SecretKept`,
    `VariableKept`, `NotFound`.
    """
    references = _references(checked, values)
    names = [reference.name for reference in references.values()]
    hosts = checked.manifest.hosts
    if names and (not hosts or any("*" in host for host in hosts)):
        asks = f"the hosts {listed(hosts)}" if hosts else "no host"
        raise SecretKept(
            f"{checked.type} requests access to {asks}, so it does not receive the variable {listed(names)}.",
            remedy="Declare each server that the secret is sent to: hosts = ('api.example.org',).",
        )
    if names and not ctx.code.opens(checked.manifest):
        raise SecretKept(
            f"Custom code has no access to {listed(hosts)} here, so it does not receive the variable {listed(names)}.",
            remedy="The operator opens hosts to custom code with HEADGATE_SANDBOX__HOSTS.",
        )
    secrets: dict[str, str] = {}
    for name, reference in references.items():
        for host in hosts:
            secrets[name] = (await ctx.secret(reference, url=f"https://{host}/")).get_secret_value()
    return secrets


def _references(checked: CheckedComponent, values: Mapping[str, Any]) -> dict[str, SecretReference]:
    references: dict[str, SecretReference] = {}
    for field in checked.template.fields:
        value = values.get(field.name) if field.is_secret else None
        if isinstance(value, SecretReference):
            references[field.name] = value
        elif value not in (None, ""):
            raise ComponentError(
                f"{checked.type}: field '{field.name}' takes a reference to a secret, never a value.",
                remedy=f"Set it to {EXPECTED}.",
                field=field.name,
            )
    return references


def _input(ctx: RunContext) -> dict[str, JsonValue]:
    run_input = ctx.input
    return {
        "text": run_input.text,
        "form_data": dict(run_input.form_data),
        "files": [file.model_dump(mode="json") for file in run_input.files],
        "history": [message.model_dump(mode="json") for message in run_input.history],
    }


def _files_in(value: object) -> list[File]:
    if isinstance(value, File):
        return [value]
    if isinstance(value, Message):
        return list(value.files)
    return [file for item in value for file in _files_in(item)] if isinstance(value, list | tuple) else []


async def _stored(result: _Answer, ctx: RunContext) -> dict[str, _Output]:
    """Return the outputs, with created files stored as artifacts of the step."""
    saved: dict[str, JsonValue] = {}
    for made_file in result.files:
        try:
            content = base64.b64decode(made_file.content, validate=True)
        except ValueError as error:
            raise ComponentError(
                f"The file '{made_file.name[:200]}' was not received completely.", remedy="Try again."
            ) from error
        file = await ctx.files.save(made_file.name, content, made_file.media_type)
        saved[made_file.id] = file.model_dump(mode="json")
    if not saved:
        return result.outputs
    return {
        name: output.model_copy(update={"value": _with_files(output.value, saved)})
        for name, output in result.outputs.items()
    }


def _with_files(value: JsonValue, saved: Mapping[str, JsonValue]) -> JsonValue:
    """Return the value with each reference to a new file replaced by the stored artifact."""
    if isinstance(value, list):
        return [_with_files(item, saved) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == set(File.model_fields) and str(value["id"]) in saved:
        return saved[str(value["id"])]
    return {name: _with_files(item, saved) for name, item in value.items()}
